"""Runs LAMMPS in processes that serve one input after another (lammps_worker.py), on one or more ranks."""

import atexit
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lammps_worker.py")
# Those that wait for an input, by the command that starts them, the arguments about KOKKOS and the environment.
idle = {}
lock = threading.Lock()


class Worker:
    def __init__(self, launcher, ranks, environment, folder):
        fifos = tempfile.mkdtemp(dir=folder)
        self.requests = []
        for rank in range(ranks):
            path = os.path.join(fifos, str(rank))
            os.mkfifo(path)
            # Opened for reading, too, it does not wait for the process, which may end before it reads.
            self.requests.append(os.open(path, os.O_RDWR))
        self.process = subprocess.Popen([*launcher, sys.executable, WORKER, fifos], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, bufsize=0)

    def run(self, request, timeout):
        """Return the exit code: that of a program. None: it takes longer than timeout; the process has ended then."""
        for fifo in self.requests:
            os.write(fifo, (json.dumps(request) + "\n").encode())
        answers, end = b"", time.time() + (timeout or float("inf"))
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while answers.count(b"\n") < len(self.requests):
                if not selector.select(end - time.time() if timeout else None):
                    self.process.terminate()    # mpirun passes the signal on to the ranks
                    self.process.wait()
                    return None
                part = os.read(self.process.stdout.fileno(), 4096)
                if not part:    # by the command quit, an error of one rank, an abort or a signal
                    return self.process.wait()
                answers += part
        return max(map(int, answers.split()))

    def close(self):
        for fifo in self.requests:
            os.close(fifo)
        self.process.wait()
        self.process.stdout.close()


def run(launcher, ranks, environment, folder, request, timeout):
    """Run an input in an idle process or in a new one, with files in a folder, and return its exit code as
    Worker.run() does."""
    key = (*launcher, ranks, *request[-1], *sorted(environment.items()))
    with lock:
        free = idle.setdefault(key, [])
        worker = free.pop() if free else None
    worker = worker or Worker(launcher, ranks, environment, folder)
    code = worker.run(request, timeout)
    if worker.process.poll() is None:
        with lock:
            free.append(worker)
    else:
        worker.close()
    return code


@atexit.register
def end_all():
    for workers in idle.values():
        for worker in workers:
            worker.close()
