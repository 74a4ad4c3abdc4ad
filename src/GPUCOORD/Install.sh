# Install/unInstall package files in LAMMPS
# mode = 0/1/2 for uninstall/install/update

mode=$1

# enforce using portable C locale
LC_ALL=C
export LC_ALL

if (test $mode = 0) then
  for file in *.cpp *.h; do
    rm -f ../$file
  done
else
  echo "The GPUCOORD package does not support the legacy build system. Please build LAMMPS with CMake instead."
  exit 1
fi
