# Ends a job that takes longer than its limit.

start_watchdog() {
  job_limit=$limit
  [ ! -e "$dir/limit" ] || read -r job_limit <"$dir/limit"
  [ "$job_limit" -gt 0 ] || return 0
  watch "$job_limit" &
  watchdog=$!
}

# watch SECONDS
watch() {
  # Not by redirections of the call, because dash would keep copies open. Without descriptor 4: the claim ends with the job.
  close_pipes
  exec 4<&-
  # Set before the sleeper starts, or a quick job would leave it behind; until then $! is an earlier process. KILL,
  # because a child that has not reached its exec yet can lose any other signal.
  earlier=$!
  trap '[ "$!" = "$earlier" ] || kill -KILL "$!"; exit' TERM
  SSHOAL_WATCH=$attempt sleep "$1" &
  wait $! && true >"$dir/timed-out" || return
  is_running "$key" || live_pid=$nobody
  end_tree "$live_pid" "$attempt"
}

# Ends the watchdog that a killed keeper left: without its sleeper, it ends by itself.
end_watch() {
  # shellcheck disable=SC2046
  kill $(marked "$attempt" SSHOAL_WATCH) 2>/dev/null
}
