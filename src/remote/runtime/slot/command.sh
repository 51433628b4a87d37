# Runs the command of one job.

run_command() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ "$tree" != @ ] || { work=$in_place kept=$spool/$dir/work && mkdir -p "$kept"; }
  tell_start
  start_watchdog
  if [ "$needs_own_shell" = 0 ] && can_fork; then have_it_forked; else run_in_own_shell; fi
}

# There is none where bash is missing, or would find something in its environment that this shell does not know.
can_fork() {
  [ -n "$forker" ] || { read -r forker forker_pid <&6 || forker=none; } 2>/dev/null
  [ "$forker" = ready ] && kill -0 "$forker_pid" 2>/dev/null
}

have_it_forked() {
  told='' place=-
  [ "$tree" != @ ] || place=@
  echo "$key $place $keeper" >&5
  read -r told code job <&6
  # Somebody killed the one who knows how the job ended: it is seen to as if it had no keeper.
  [ "$told" = "$key" ] || exit 1
  return "$code"
}

# In the foreground, where dash starts it without a copy of itself; begin.sh writes down who it is. All three
# streams are redirected, or whoever holds the other end would wait for the job's children too.
run_in_own_shell() {
  as_at_login
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$boot_id SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
      setsid "$shell" "$spool/$dir/command" </dev/null >>"$spool/$dir/out" 2>>"$spool/$dir/err" 5>&- 6<&- 7>&- 8<&-
  code=$?
  as_in_spool
  cd "$spool" || exit 1
  learn_job
  return "$code"
}

# The spool is private and its scripts speak C; what a job makes and says is as the user has it elsewhere.
as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

as_in_spool() {
  umask 077
  export LC_ALL=C
}

# Who the job was, by its own word. One that had none to say has no number that any process has.
learn_job() {
  job='' told=''
  { read -r job _ _ told <"$mine/job"; } 2>/dev/null
  [ "$told" = "$key" ] || job=$nobody
}
