#!/bin/sh
# Installs what the tests need besides Node: real servers and shells. Uses apt if possible.

missing=
need() { command -v "$1" >/dev/null 2>&1 || [ -e "$1" ] || missing="$missing $2"; }
need /usr/sbin/sshd openssh-server
need ssh openssh-client
need script bsdutils
need dash dash
need bash bash
need busybox busybox
need shellcheck shellcheck
# The awks of Debian and Fedora; Alpine's is part of busybox.
need mawk mawk
need gawk gawk
# Login shells that people have on machines.
for shell in zsh ksh fish tcsh; do need "$shell" "$shell"; done
need bsd-csh csh
# What completion works with, and without.
need /usr/share/bash-completion/bash_completion bash-completion
# Man pages are checked by both.
need man man-db
need mandoc mandoc
# The page of results is opened in it.
need chromium chromium
# If root runs the tests, the machines of the tests accept this plain account. Its password is unset but not locked,
# because sshd refuses a locked account.
if [ "$(id -u)" = 0 ] && ! id sshoal-test >/dev/null 2>&1; then
  useradd --system --home-dir /home/sshoal-test --create-home --shell /bin/sh --password '*' sshoal-test || exit 1
fi
[ -n "$missing" ] || exit 0

echo "the tests need:$missing"
if [ "$(id -u)" = 0 ]; then sudo=; else sudo="sudo -n"; fi
# shellcheck disable=SC2086
if command -v apt-get >/dev/null && $sudo true 2>/dev/null &&
  { $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 ||
    { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; }; then
  exit 0
fi
echo "error: install them first, then run the tests again: sudo apt-get install$missing" >&2
exit 1
