# Prints the machine's clock and the names of a spool's event logs, then their new lines. Runs in the spool after
# logs.sh. $known has a line <log>=<lines> <end of the last one> for each log of which the client has lines. Ends when
# stdin does.

newline='
'

follow() {
  find_logs
  [ -n "$logs" ] || { echo "there is no event log in $PWD" >&2 && exit 1; }
  counts=
  for log_file in $logs; do
    count=0
    case $known in *"$newline$log_file="*) find_known ;; esac
    counts="$counts $count"
  done
  print_clock
  echo "logs$logs"
  exec 3<&0 </dev/null
  # shellcheck disable=SC2086
  case $counts in
    *[1-9]*) print_logs | { exec 3<&- && skip $counts && exec cat; } ;;
    *) print_logs ;;
  esac
}

# Sets $count to the number of known lines of the log. Ends the script if the log does not have them: after a power
# failure the last lines can be missing or replaced.
find_known() {
  known_end=${known#*"$newline$log_file="}
  known_end=${known_end%%"$newline"*}
  count=${known_end%% *} known_end=${known_end#* }
  case $(sed -n "$count{s/^/x/p;q;}" "$log_file") in
    x*"$known_end") ;;
    *) echo "$log_file has lost lines" >&2 && exit 1 ;;
  esac
}

# Replaces this shell, so that tail has its pid.
print_logs() {
  read -r pid _ </proc/self/stat
  { read -r _; kill "$pid"; } <&3 >/dev/null 2>&1 &
  # On a file server, or without free inotify watches, tail polls once per second by default. busybox accepts only whole
  # seconds.
  pause=1
  ! tail -s 0.02 -n 0 /dev/null 2>/dev/null || pause=0.02
  # shellcheck disable=SC2086
  exec tail -v -n +1 -s "$pause" -f $logs 3<&-
}

# skip COUNT…: drops this many lines of each log. tail prints the logs in turn, each after a header, before it waits.
skip() {
  for count; do
    while IFS= read -r line; do
      printf '%s\n' "$line"
      case $line in '==> '*' <==') break ;; esac
    done
    while [ "$count" -gt 0 ] && IFS= read -r line; do count=$((count - 1)); done
  done
  return 0
}
