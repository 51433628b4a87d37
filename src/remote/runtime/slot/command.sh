# Runs the command of one job.

# Reports the start of the job, and sets where it runs ($work) and where its results go ($kept).
begin() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ "$tree" != @ ] || { work=$in_place kept=$spool/$dir/work && mkdir -p "$kept"; }
  tell_start
  start_watchdog
}

# Fails with the exit code of the job, and sets $job to its pid.
run_command() {
  run_in_own_shell
}

# Runs in the foreground, where dash needs no fork of itself; begin.sh writes down the pid. All three streams are redirected:
# a process that reads one of them would otherwise wait for the job's children too.
run_in_own_shell() {
  as_at_login
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$here SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
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

# For processes that may outlive the keeper: pipes of fast.sh, whose readers wait until no process holds them.
close_pipes() {
  exec 5>&- 6<&- 7>&- 8<&-
}
