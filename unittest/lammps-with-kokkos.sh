#!/usr/bin/env bash
# lammps-with-kokkos.sh LAMMPS_TREE KOKKOS_TREE FOLDER [CMAKE_OPTION ...]: on a machine with a GPU, builds LAMMPS with KOKKOS
# for this GPU in FOLDER/build, with the packages and only the KOKKOS styles that the tests use, in about eight minutes on
# 32 cores. FOLDER/lammps is a copy of the tree without the other styles. A further call continues.
# Environment: JOBS, CUDACXX, CXX (default /usr/bin/g++: with a compiler that links libstdc++ statically, PLUMED cannot be
# loaded).
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 1; }
tree=$(realpath -e "$1") kokkos=$(realpath -e "$2") folder=$(realpath -m "$3")
[ -e "$kokkos/bin/nvcc_wrapper" ] || { echo "Error: $kokkos has no bin/nvcc_wrapper: give a Kokkos 5 source tree" >&2; exit 1; }
export CXX=${CXX:-/usr/bin/g++}
export NVCC_WRAPPER_DEFAULT_COMPILER=$CXX CUDAHOSTCXX=$CXX
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin

if [ ! -e "$folder/lammps/complete" ]; then
  mkdir -p "$folder/lammps/lib"
  for part in bench cmake doc potentials python src third_party tools unittest lib/colvars lib/lepton; do
    if [ -e "$tree/$part" ]; then cp -r "$tree/$part" "$folder/lammps/$(dirname "$part")/"; fi
  done
  ln -sfn "$kokkos" "$folder/lammps/lib/kokkos"
  used='pair_(kokkos|soft|lj_cut|lj_cut_coul_long|gauss|hybrid.*|table|snap|sw|eam.*|zbl)|bond_harmonic|angle_harmonic|pppm|compute_temp'
  used+='|fix_(nh.*|nve|nvt|npt|nph|nve_asphere|langevin|minimize|neigh_history|property_atom|momentum|deform|shake|setforce)'
  cd "$folder/lammps/src/KOKKOS"
  for file in pair_*.cpp fix_*.cpp compute_*.cpp bond_*.cpp angle_*.cpp dihedral_*.cpp improper_*.cpp min_fire*.cpp mliap*.cpp; do
    [[ ${file%.cpp} =~ ^($used)(_kokkos)?$ ]] || rm -f "$file" "${file%.cpp}.h"
  done
  touch "$folder/lammps/complete"
fi
# nvcc takes three times as long as the host compiler, which can compile two of three files: those that
# include neither Kokkos nor all styles.
mkdir -p "$folder/bin"
cat >"$folder/bin/nvcc_wrapper" <<END
#!/usr/bin/env bash
for word; do [[ \$word != *.cpp ]] || source=\$word; done
if [ -e "\${source:-}" ] && [[ \$source != */KOKKOS/* && \$source != */kokkos/* ]] && ! grep -q 'kokkos\|"style_' "\$source"; then
  set -- --host-only "\$@"
fi
exec "$kokkos/bin/nvcc_wrapper" "\$@"
END
chmod +x "$folder/bin/nvcc_wrapper"
cmake -S "$folder/lammps/cmake" -B "$folder/build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=on -D BUILD_MPI=on \
  -D BUILD_OMP=on -D CMAKE_CXX_COMPILER="$folder/bin/nvcc_wrapper" -D PKG_KOKKOS=on -D Kokkos_ENABLE_CUDA=on \
  -D Kokkos_ENABLE_OPENMP=on -D Kokkos_ENABLE_SERIAL=on -D FFT_KOKKOS=CUFFT -D FFT=KISS -D WITH_JPEG=off -D WITH_PNG=off \
  -D WITH_FFMPEG=off -D WITH_CURL=off -D WITH_GZIP=off -D DOWNLOAD_POTENTIALS=off -D LEPTON_ENABLE_JIT=off \
  -D PKG_ASPHERE=on -D PKG_BODY=on -D PKG_COLVARS=on -D PKG_DIPOLE=on -D PKG_EXTRA-COMPUTE=on -D PKG_EXTRA-FIX=on \
  -D PKG_EXTRA-PAIR=on -D PKG_KSPACE=on -D PKG_MANYBODY=on -D PKG_ML-SNAP=on -D PKG_MOLECULE=on -D PKG_OPENMP=on -D PKG_PLUGIN=on \
  -D PKG_RIGID=on "${@:4}" >"$folder/configure.log" 2>&1 || { tail -30 "$folder/configure.log" >&2; exit 1; }
ninja -C "$folder/build" -j "${JOBS:-$(nproc)}" lmp
echo "Now: cmake -S . -B build -G Ninja -D LAMMPS_SOURCE_DIR=$folder/lammps -D LAMMPS_BUILD_DIR=$folder/build"
