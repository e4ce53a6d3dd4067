#!/bin/sh
# sh install.sh [DIR]: installs kcheck into DIR (default: ./kcheck-venv) from the wheels beside this file, no network;
# upgrades it if it is there. PYTHON names the Python to use.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
target=${1:-kcheck-venv}
python=${PYTHON:-python3}
wanted=@PLATFORM@

fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

command -v "$python" >/dev/null || fail "$python is missing; name another: PYTHON=/path/to/python3 sh install.sh"
found=$("$python" -c 'import sys, sysconfig; print("%s-cp%d%d" % (sysconfig.get_platform(), *sys.version_info[:2]))') ||
    fail "$python does not run; name another: PYTHON=/path/to/python3 sh install.sh"
[ "$found" = "$wanted" ] ||
    fail "$python is $found, but this archive is for $wanted; name another: PYTHON=/path/to/python3 sh install.sh"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
    fail "$python has no venv; install it first, on Debian and Ubuntu with: apt install python3-venv"
is_upgrade=
if [ -f "$target/pyvenv.cfg" ] && [ -x "$target/bin/kcheck" ]; then
    is_upgrade=1
elif [ -e "$target" ] && [ -n "$(ls -A -- "$target")" ]; then
    fail "$target exists and is no installation of kcheck; choose another directory"
fi

"$python" -m venv "$target" || fail "cannot create $target"
install() {
    "$target/bin/python" -m pip --isolated --disable-pip-version-check install --quiet --no-index \
        --find-links "$here/wheels" "$@" kcheck || fail "the wheels do not fit this machine (see above)"
}
install --upgrade
# The same version can have other bytes.
[ -z "$is_upgrade" ] || install --force-reinstall --no-deps
rm -rf "$target/share/man" "$target/share/bash-completion" "$target/share/zsh" "$target/share/fish"
mkdir -p "$target/share"
cp -R "$here/share/." "$target/share"
echo "installed: $target/bin/kcheck"
