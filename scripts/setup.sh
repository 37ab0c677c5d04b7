#!/usr/bin/env bash
# Installs what is missing, by package name, and builds the page that the binary embeds. Says what it does, and
# does nothing when nothing is to be done.
#
#   scripts/setup.sh        what ./test and ./bench need
#   scripts/setup.sh run    what ./run needs
#   scripts/setup.sh edge   what ./bench edge needs: the other caches, without their services being started, and
#                           their load generator; with 'cache-tests' also the peer of http-cache-tests alone
#   scripts/setup.sh arrival what ./bench arrival needs: a load generator, and PostgreSQL without its service
#   scripts/setup.sh scores what ./bench scores needs: the other servers of sockets. Without Go there is no Centrifugo,
#                           and what cannot be had is no peer
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null; }

# Servers of our own, which are not the package's service.
need_postgres() {
  [ -n "$(compgen -G '/usr/lib/postgresql/*/bin/postgres')" ] || has postgres || {
    need postgresql
    services+=(postgresql)
  }
}

# Not from Debian: its versions are too old.
has cargo || fail "Rust is missing; install it with rustup, then start this again"
has npm || fail "Node.js is missing; install version 20.19 or newer, then start this again"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  fail "Node.js $(node --version) is too old; install version 20.19 or newer"

# Benchmarks run other servers themselves, as children. Their packages would start them as services, now (which a
# policy forbids, see invoke-rc.d(8)) and at each boot.
policy=/usr/sbin/policy-rc.d
forbid_services() {
  if [ -x "$policy" ] && { "$policy" nginx start >/dev/null 2>&1; [ $? -eq 101 ]; }; then
    return
  fi
  trap allow_services EXIT
  [ ! -e "$policy" ] || "${as_root[@]}" mv "$policy" "$policy.before-setup"
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod +x "$policy"
  policy_is_ours=1
}
allow_services() {
  if has systemctl; then
    for service in "${services[@]}"; do
      "${as_root[@]}" systemctl disable --quiet "$service" 2>/dev/null || true
    done
  fi
  [ -n "${policy_is_ours:-}" ] || return 0
  policy_is_ours=
  "${as_root[@]}" rm -f "$policy"
  [ ! -e "$policy.before-setup" ] || "${as_root[@]}" mv "$policy.before-setup" "$policy"
}

missing=()
services=()
need() { missing+=("$@"); }
has cc || need gcc libc6-dev
has ffmpeg && has ffprobe || need ffmpeg
has espeak-ng || need espeak-ng
has srt-live-transmit || need srt-tools
if [ "${1:-}" = arrival ]; then
  has openssl || need openssl
  has wrk || need wrk
  need_postgres
fi
if [ "${1:-}" = edge ]; then
  has openssl || need openssl
  has wrk || need wrk
  peers=(nginx varnish trafficserver haproxy)
  [ "${2:-}" != cache-tests ] || peers+=(apache2)
  for package in "${peers[@]}"; do
    [ -n "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -x installed)" ] || {
      need "$package"
      services+=("$package")
    }
  done
elif [ "${1:-}" = scores ]; then
  for package in libnginx-mod-nchan nats-server; do
    [ -n "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -x installed)" ] || {
      need "$package"
      [ "$package" = nats-server ] && services+=(nats-server) || services+=(nginx)
    }
  done
  has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv
  # socketify loads it.
  ldconfig -p | grep -q 'libuv\.so\.1' || need libuv1
elif [ "${1:-}" != run ]; then
  [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || need chromium
  # For pages in English, Hindi and Tamil.
  [ -n "$(find /usr/share/fonts -name 'NotoSansTamil*' -print -quit 2>/dev/null)" ] || need fonts-noto-core
  # libFuzzer is C++.
  has c++ || need g++
  need_postgres
  python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv
fi
if [ ${#missing[@]} -gt 0 ]; then
  has apt-get || fail "these Debian packages, or what your system calls them, are missing: ${missing[*]}"
  as_root=()
  if [ "$EUID" -ne 0 ]; then
    has sudo || fail "run this as root, or install these packages: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  [ ${#services[@]} -eq 0 ] || forbid_services
  "${as_root[@]}" apt-get -qq update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >&2
  [ ${#services[@]} -eq 0 ] || allow_services
  # nginx makes the folders that its package has it use when root runs it first, and the bench does not run it as root.
  [ "${1:-}" != scores ] || "${as_root[@]}" nginx -t -q
fi

# A peer that cannot be had is left out, and the bench says so.
if [ "${1:-}" = scores ]; then
  scores=$PWD/peers/scores
  if [ ! -x "$scores/.bin/centrifugo" ]; then
    if has go; then
      say "building Centrifugo (go install)"
      if GOBIN="$scores/.bin" GOTOOLCHAIN=local go install github.com/centrifugal/centrifugo/v6@latest >&2; then
        # It does not know its own version when it is built so.
        go version -m "$scores/.bin/centrifugo" | awk '$1 == "mod" { print $3 }' >"$scores/.bin/version"
      else
        say "Centrifugo could not be built, so it is no peer"
      fi
    else
      say "Go is missing, so Centrifugo is no peer"
    fi
  fi
  if [ ! -e "$scores/.venv/ready" ]; then
    say "installing socketify (pip)"
    if python3 -m venv "$scores/.venv" && "$scores/.venv/bin/pip" install --quiet --disable-pip-version-check socketify >&2; then
      touch "$scores/.venv/ready"
    else
      rm -rf "$scores/.venv"
      say "socketify could not be installed, so it is no peer"
    fi
  fi
fi

tests=peers/edge/cache-tests
if [ "${1:-}" = edge ] && [ "$tests/package-lock.json" -nt "$tests/node_modules/.package-lock.json" ]; then
  say "installing http-cache-tests (npm ci)"
  npm --prefix "$tests" ci --silent --no-fund --no-audit >&2
  touch "$tests/node_modules/.package-lock.json"
fi

if [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
  say "installing the page's packages (npm ci)"
  npm --prefix web ci --silent --no-fund --no-audit >&2
  touch web/node_modules/.package-lock.json
fi
if [ ! -f web/dist/index.html ] || [ ! -f web/dist-console/console.html ] || [ -n "$(
  find web/src web/*.html web/package-lock.json web/vite.*config.ts -newer web/dist/index.html -print -quit
)" ]; then
  say "building the page"
  npm --prefix web run --silent build >&2
fi
