
has_fifos=''
forker='' forker_pid=''
can_ask='' answer='' as_copied=''

run_keeper() {
  if make_fifos && command exec 5<>"$mine/run" 7<>"$mine/ask"; then
    fork_jobs <"$mine/run" 5>&- 7>&- | run_keeper_with_du &
    exec 5>&- 7>&-
  else
    keep </dev/null 5>/dev/null 6</dev/null 7>/dev/null &
  fi
  wait $!
  keeper_status=$?
  wait
  return "$keeper_status"
}

make_fifos() {
  [ -z "$has_fifos" ] || return 0
  { [ ! -e "$mine/ask" ] || rm -f "$mine/run" "$mine/ask"; } &&
    mkfifo "$mine/run" "$mine/ask" 2>/dev/null && has_fifos=yes
}

fork_jobs() {
  [ "$shell" = bash ] && exec $politely bash -p fork.bash "$spool" "$slot"
}

run_keeper_with_du() {
  exec 6<&0
  print_changes <"$mine/ask" 2>&1 5>&- 6<&- 7>&- | keep_with_pipes &
  exec 5>&- 6<&- 7>&-
  wait $!
  code=$?
  wait
  exit "$code"
}

print_changes() {
  exec du -ls --time=ctime --time-style=+%s.%N --files0-from=-
}

keep_with_pipes() {
  exec 8<&0 </dev/null
  can_ask=yes
  keep
}

run_command() {
  if [ "$needs_own_shell" = 0 ] && can_fork; then have_it_forked; else run_in_own_shell; fi
}

can_fork() {
  [ -n "$forker" ] || { read -r forker forker_pid <&6 || forker=none; } 2>/dev/null
  [ "$forker" = ready ] && kill -0 "$forker_pid" 2>/dev/null
}

have_it_forked() {
  answered='' place=-
  [ -z "$runs_in_place" ] || place=@
  echo "$key $place $keeper $devices" >&5
  note_oom_kills
  read -r answered code job <&6
  [ "$answered" = "$key" ] || exit 1
  return "$code"
}

remember_copy() {
  wait_for_clock
  as_copied=''
  ! ask "$mine/work" || as_copied=$answer
}

is_as_copied() {
  if [ -n "$as_copied" ] && [ "$copied" = "$boot_id whole $tree" ] && ask "$mine/work"; then
    [ "$answer" = "$as_copied" ]
  else
    can_tell && finds_no_change
  fi
}

ask() {
  [ -n "$can_ask" ] || return 1
  answer=''
  { printf '%s\0' "$1" >&7 && read -r answer <&8; } 2>/dev/null
  case $answer in
    [0-9]*"	"[0-9]*.[0-9]*"	$1") ;;
    *) can_ask='' ;;
  esac
  [ -n "$can_ask" ]
}
