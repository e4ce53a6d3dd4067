/* Preloaded by tests/disk/read_faults.py: lets a call of the C library that looks at files below a folder fail.
 *
 * fault_arm(folder, at, how) chooses the call by its number from then on: `how` > 0 is the errno that it fails with;
 * LONGER and SHORTER change the size that it returns, or the bytes that it reads. fault_disarm() returns how many calls
 * there were, fault_kinds() the kind of each, fault_name() what the chosen one was.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LONGER = -1, SHORTER = -2 };

/* Shared with the processes that a command starts. */
static struct {
    long at, count;
    int how;
    char folder[4096], name[4400], kinds[1 << 16];
} *armed;

void fault_arm(const char *path, long number, int kind) {
    if (!armed) armed = mmap(0, sizeof *armed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    snprintf(armed->folder, sizeof armed->folder, "%s", path);
    armed->name[0] = 0, armed->count = 0, armed->how = kind, armed->at = number;
}

long fault_disarm(void) {
    armed->at = -1;
    return armed->count;
}

const char *fault_name(void) { return armed->name; }

/* A letter for each call: s for a status, r for a read, o for the others. */
const char *fault_kinds(void) { return armed->kinds; }

/* Whether this call is the one; a path is relative to a descriptor unless it begins with a slash. */
static int chosen(char kind, const char *call, int file, const char *path) {
    if (!armed || armed->at < 0) return 0;
    int before = errno;
    char whole[4200] = "", link[40];
    if (path && path[0] == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else if (file >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        ssize_t length = readlink(link, whole, 4095);
        if (length > 0 && path && path[0]) snprintf(whole + length, sizeof whole - length, "/%.90s", path);
    }
    errno = before;
    size_t length = strlen(armed->folder);
    if (strncmp(whole, armed->folder, length) || (whole[length] && whole[length] != '/')) return 0;
    long number = armed->count++;
    if (number < (long)sizeof armed->kinds) armed->kinds[number] = kind;
    if (number != armed->at) return 0;
    snprintf(armed->name, sizeof armed->name, "%s %s", call, whole + length);
    return 1;
}

static int fails(const char *call, int file, const char *path) {
    if (!chosen('o', call, file, path) || armed->how < 0) return 0;
    errno = armed->how;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENER(name, head, file, call)                      \
    int name head {                                         \
        mode_t mode = 0;                                    \
        if (flags & O_CREAT) {                              \
            va_list rest;                                   \
            va_start(rest, flags);                          \
            mode = va_arg(rest, mode_t);                    \
            va_end(rest);                                   \
        }                                                   \
        if (fails("open", file, path)) return -1;           \
        return REAL(name) call;                             \
    }

OPENER(open, (const char *path, int flags, ...), -1, (path, flags, mode))
OPENER(open64, (const char *path, int flags, ...), -1, (path, flags, mode))
OPENER(openat, (int from, const char *path, int flags, ...), from, (from, path, flags, mode))
OPENER(openat64, (int from, const char *path, int flags, ...), from, (from, path, flags, mode))

#define CALL(type, name, failed, file, path, head, call)     \
    type name head {                                         \
        if (fails(#name, file, path)) return failed;         \
        return REAL(name) call;                              \
    }

CALL(DIR *, opendir, 0, -1, path, (const char *path), (path))
CALL(DIR *, fdopendir, 0, file, 0, (int file), (file))
CALL(struct dirent *, readdir, 0, dirfd(stream), 0, (DIR *stream), (stream))
CALL(struct dirent64 *, readdir64, 0, dirfd(stream), 0, (DIR *stream), (stream))
CALL(int, access, -1, -1, path, (const char *path, int mode), (path, mode))
CALL(int, faccessat, -1, from, path, (int from, const char *path, int mode, int flags), (from, path, mode, flags))
CALL(ssize_t, readlink, -1, -1, path, (const char *path, char *target, size_t size), (path, target, size))
CALL(ssize_t, readlinkat, -1, from, path, (int from, const char *path, char *target, size_t size),
     (from, path, target, size))

/* The status of a file: it may fail, or name a size that the file does not have. */
#define STATUS(name, type, file, path, head, call)                     \
    int name head {                                                    \
        int hit = chosen('s', #name, file, path), done;                     \
        if (hit && armed->how > 0) {                                          \
            errno = armed->how;                                               \
            return -1;                                                 \
        }                                                              \
        done = REAL(name) call;                                        \
        if (hit && !done && S_ISREG(status->st_mode))                  \
            status->st_size = armed->how == LONGER ? status->st_size * 2 + 61 : status->st_size / 2; \
        return done;                                                   \
    }

STATUS(stat, stat, -1, path, (const char *path, struct stat *status), (path, status))
STATUS(stat64, stat64, -1, path, (const char *path, struct stat64 *status), (path, status))
STATUS(lstat, stat, -1, path, (const char *path, struct stat *status), (path, status))
STATUS(lstat64, stat64, -1, path, (const char *path, struct stat64 *status), (path, status))
STATUS(fstat, stat, file, 0, (int file, struct stat *status), (file, status))
STATUS(fstat64, stat64, file, 0, (int file, struct stat64 *status), (file, status))
STATUS(fstatat, stat, from, path, (int from, const char *path, struct stat *status, int flags),
       (from, path, status, flags))
STATUS(fstatat64, stat64, from, path, (int from, const char *path, struct stat64 *status, int flags),
       (from, path, status, flags))

/* A read may fail, or give half of what it could. */
#define READER(name, head, call)                              \
    ssize_t name head {                                       \
        int hit = chosen('r', #name, file, 0);                     \
        if (hit && armed->how > 0) {                                 \
            errno = armed->how;                                      \
            return -1;                                        \
        }                                                     \
        ssize_t done = REAL(name) call;                       \
        return hit && armed->how == SHORTER && done > 0 ? done / 2 : done; \
    }

READER(read, (int file, void *data, size_t size), (file, data, size))
READER(pread, (int file, void *data, size_t size, off_t position), (file, data, size, position))
READER(pread64, (int file, void *data, size_t size, off64_t position), (file, data, size, position))
READER(preadv, (int file, const struct iovec *parts, int size, off_t position), (file, parts, size, position))
READER(preadv64, (int file, const struct iovec *parts, int size, off64_t position), (file, parts, size, position))
READER(preadv2, (int file, const struct iovec *parts, int size, off_t position, int flags),
       (file, parts, size, position, flags))
READER(preadv64v2, (int file, const struct iovec *parts, int size, off64_t position, int flags),
       (file, parts, size, position, flags))

off_t lseek(int file, off_t position, int whence) {
    return fails("lseek", file, 0) ? -1 : REAL(lseek)(file, position, whence);
}
off64_t lseek64(int file, off64_t position, int whence) {
    return fails("lseek", file, 0) ? -1 : REAL(lseek64)(file, position, whence);
}
