#!/bin/sh
# Runs the test command as the plain account sshoal-test, on a copy of this clone that the account owns.

[ "$(id -u)" = 0 ] || { echo "error: you are a plain user already: npm test" >&2; exit 2; }
test/prerequisites.sh || exit 1
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy" && cp -a . "$copy/clone" && chown -R sshoal-test: "$copy/clone" && cd "$copy/clone" || exit 1
setpriv --reuid=sshoal-test --regid=sshoal-test --clear-groups \
  env HOME=/home/sshoal-test USER=sshoal-test LOGNAME=sshoal-test SHELL=/bin/sh npm test -- "$@"
