# Ends a job that takes longer than its limit.

# Some jobs have a limit of their own.
start_watchdog() {
  job_limit=$limit
  [ ! -e "$dir/limit" ] || read -r job_limit <"$dir/limit"
  [ "$job_limit" -gt 0 ] || return 0
  watch &
  watchdog=$!
}

watch() {
  # Not by redirections of the call: dash would keep copies open.
  close_pipes
  # Set before there is a sleeper, or a quick job would leave it behind; until then $! is an earlier one's. And KILL, since
  # a child that has not got to its exec yet can lose any other signal.
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$job_limit" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

# For a keeper that was killed, and could not: the process that wakes the sleeper ends the watch.
end_watch() {
  # shellcheck disable=SC2046
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}
