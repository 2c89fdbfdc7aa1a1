#!/usr/bin/env bash
# Makes sure that the named programs are there, installing those that are missing from Debian's packages.
#
#   scripts/tools.sh nginx wrk ab h2load openssl
#
# Tests need a real server beside the built-in one, and benchmarks need peers. Nothing is installed that is there
# already, so a machine that has them needs neither root nor a network.
set -euo pipefail

# nginx lives in /usr/sbin, Go's own archive in /usr/local/go/bin, and PostgreSQL's server in a folder for each version: not on the
# path of every user.
PATH="$PATH:/usr/sbin:/sbin:/usr/local/go/bin"
add_postgresql() {
    local place
    for place in /usr/lib/postgresql/*/bin; do PATH="$PATH:$place"; done
}
add_postgresql

package_of() {
    case "$1" in
        nginx) echo nginx-light ;;
        wrk) echo wrk ;;
        ab) echo apache2-utils ;;
        sshd) echo openssh-server ;;
        nats-server) echo nats-server ;;
        ip|tc) echo iproute2 ;;
        ssh|ssh-keygen) echo openssh-client ;;
        h2load) echo nghttp2-client ;;
        nghttpd) echo nghttp2-server ;;
        openssl) echo openssl ;;
        chromium) echo chromium ;;
        tmux) echo tmux ;;
        gnuplot) echo gnuplot-nox ;;
        siege) echo siege ;;
        goaccess) echo goaccess ;;
        go) echo golang-go ;;
        prometheus) echo prometheus ;;
        python3) echo python3-venv ;;
        node) echo nodejs ;;
        java|javac) echo default-jdk-headless ;;
        mvn) echo maven ;;
        npm) echo npm ;;
        rpm) echo rpm ;;
        rpm2cpio) echo rpm2cpio ;;
        cpio) echo cpio ;;
        initdb) echo postgresql ;;
        psql) echo postgresql-client ;;
        valgrind) echo valgrind ;;
        nft) echo nftables ;;
        *) echo "tools.sh: no package is known for '$1'" >&2; exit 2 ;;
    esac
}

missing=()
packages=()
for tool in "$@"; do
    package=$(package_of "$tool")
    if ! command -v "$tool" > /dev/null; then
        missing+=("$tool")
        packages+=("$package")
    fi
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

give_up() {
    echo "error: ${missing[*]} cannot be installed: $1" >&2
    echo "  help: $2" >&2
    exit 1
}

if ! command -v apt-get > /dev/null; then
    give_up "this is not a Debian system" "install them with this system's package manager, then run the command again"
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
        give_up "you are not root and there is no sudo" "as root: apt-get install ${packages[*]}"
    fi
    as_root=(sudo)
fi

# A package that starts its service at once would take port 80; the tests start their own nginx on a free port.
# So installing must not start anything: Debian asks policy-rc.d, and RUNLEVEL=1 is how a single call says no.
echo "installing from Debian's packages: ${packages[*]}" >&2
quiet_env=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1)
"${as_root[@]}" "${quiet_env[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update < /dev/null \
    || give_up "apt-get update failed" "look at its words above; then: apt-get install ${packages[*]}"
"${as_root[@]}" "${quiet_env[@]}" apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "${packages[@]}" < /dev/null > /dev/null \
    || give_up "apt-get install failed" "look at its words above; then: apt-get install ${packages[*]}"

add_postgresql
for tool in "${missing[@]}"; do
    command -v "$tool" > /dev/null || give_up "$tool is still missing after installing $(package_of "$tool")" "install it by hand"
done
