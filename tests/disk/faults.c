/* Preloaded by tests/disk/faults.py: lets a call of the C library that touches files fail, or end the process there.
 *
 * fault_arm(at, how, sticky) chooses the call by its number from then on: `how` > 0 is the errno that it fails with,
 * KILL ends the process before it, TEAR too, but half of a write is done. `sticky` lets every later call of a kind that
 * such a disk refuses fail as well. fault_disarm() returns how many calls there were. fault_only_writes() leaves out
 * the calls that add nothing to a disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { KILL = -1, TEAR = -2 };
enum { OPEN = 1, CREATE = 2, READ = 4, WRITE = 8, SYNC = 16, NAME = 32, META = 64, MAKE = 128, GONE = 256 };

static long at = -1, count, struck;
static int how, sticky, only = ~0;

void fault_arm(long number, int kind, int stays) {
    at = number, count = 0, struck = 0, how = kind, sticky = stays;
}

void fault_only_writes(void) {
    only = ~(OPEN | READ | GONE);
}

long fault_disarm(void) {
    at = -1;
    return count;
}

static int refuses(int error, int kind) {
    switch (error) {
    case ENOSPC: return kind & (CREATE | WRITE | MAKE);
    case EROFS: return kind & (CREATE | NAME | META | MAKE | GONE);
    default: return kind & (READ | WRITE | SYNC | NAME | GONE);
    }
}

/* Whether this call is to fail; does not return where it is the last. */
static int fails(int kind, int descriptor, const void *data, size_t size) {
    struct stat to;
    if (at < 0 || !(kind & only)) return 0;
    if (~only && kind == WRITE && !fstat(descriptor, &to) && !S_ISREG(to.st_mode)) return 0;
    if (count++ != at) {
        if (!struck || !sticky || !refuses(how, kind)) return 0;
    } else if (how == KILL || (how == TEAR && kind != WRITE)) {
        syscall(SYS_exit_group, 137);
    } else if (how == TEAR) {
        syscall(SYS_write, descriptor, data, size / 2);
        syscall(SYS_exit_group, 137);
    }
    if (sticky && !refuses(how, kind)) {
        struck = 1;
        return 0;
    }
    struck = 1;
    errno = how;
    return -1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENER(name, head, call)                                                     \
    int name head {                                                                  \
        mode_t mode = 0;                                                             \
        if (flags & O_CREAT) {                                                       \
            va_list rest;                                                            \
            va_start(rest, flags);                                                   \
            mode = va_arg(rest, mode_t);                                             \
            va_end(rest);                                                            \
        }                                                                            \
        if (fails(flags & O_CREAT ? CREATE : OPEN, -1, 0, 0)) return -1;             \
        return REAL(name) call;                                                      \
    }

OPENER(open, (const char *path, int flags, ...), (path, flags, mode))
OPENER(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENER(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENER(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define CALL(type, name, kind, head, call)          \
    type name head {                                \
        if (fails(kind, -1, 0, 0)) return -1;       \
        return REAL(name) call;                     \
    }

CALL(ssize_t, read, READ, (int file, void *data, size_t size), (file, data, size))
CALL(int, fsync, SYNC, (int file), (file))
CALL(int, rename, NAME, (const char *from, const char *to), (from, to))
CALL(int, renameat, NAME, (int a, const char *from, int b, const char *to), (a, from, b, to))
CALL(int, unlink, GONE, (const char *path), (path))
CALL(int, unlinkat, GONE, (int folder, const char *path, int flags), (folder, path, flags))
CALL(int, mkdir, MAKE, (const char *path, mode_t mode), (path, mode))
CALL(int, fchmod, META, (int file, mode_t mode), (file, mode))
CALL(int, fchown, META, (int file, uid_t user, gid_t group), (file, user, group))
CALL(int, futimens, META, (int file, const struct timespec times[2]), (file, times))
CALL(int, utimensat, META, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags))

CALL(int, link, NAME, (const char *from, const char *to), (from, to))
CALL(int, fsetxattr, META, (int file, const char *name, const void *data, size_t size, int flags),
     (file, name, data, size, flags))
CALL(int, fremovexattr, META, (int file, const char *name), (file, name))
CALL(int, setxattr, META, (const char *path, const char *name, const void *data, size_t size, int flags),
     (path, name, data, size, flags))
CALL(int, removexattr, META, (const char *path, const char *name), (path, name))

ssize_t write(int file, const void *data, size_t size) {
    if (fails(WRITE, file, data, size)) return -1;
    return REAL(write)(file, data, size);
}
