# Leaves out jobs that ended, and were freed, before their hand-over was repeated.

# After a lost connection the client hands over again. A job of the first hand-over may have ended and been freed since.
drop_freed() {
  [ -d "$incoming/jobs" ] || return 0
  find_client_logs
  # shellcheck disable=SC2086
  sed -n 's/^freed //p' $logs >"$incoming/freed" || return 1
  # A shell would read thousands of keys byte by byte.
  (cd "$incoming/jobs" && printf '%s\n' * >"$incoming/coming") || return 1
  freed=$(grep -Fx -f "$incoming/freed" "$incoming/coming")
  # 1: there are none.
  [ $? -le 1 ] || return 1
  for key in $freed; do
    rm -rf "$incoming/jobs/$key" || return 1
  done
}
