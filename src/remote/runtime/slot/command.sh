# Runs the command of one job.

begin() {
  tell_start
  ensure_sampler
  start_watchdog
  start_output_watch
}

# Returns the exit code of the job, and sets $job to its pid.
run_command() {
  run_in_own_shell
}

# Runs in the foreground, where dash does not need to fork itself; begin.sh writes the pid. All three streams are
# redirected: otherwise a process that reads one of them would also wait for the job's children.
run_in_own_shell() {
  work=$spool/$mine/work kept=$spool/$mine/work
  [ -z "$runs_in_place" ] || work=$in_place
  [ ! -e "$dir/keep" ] || work=$spool/$dir/work kept=$spool/$dir/work
  name_given 2>>"$dir/err" || return
  note_oom_kills
  find_scope
  # shellcheck disable=SC2086 # $scope has several words, or none
  set -- $scope
  [ -z "$scope" ] || set -- "$@" sh -c "$note_scope" sh "$spool/$mine/scope" "$cgroups" "$proc"
  as_at_login
  # shellcheck disable=SC2086 # $politely has one word, or none
  cd "$work" 2>>"$spool/$dir/err" &&
    SSHOAL_ATTEMPT=$attempt SSHOAL_SLOT_DIR=$spool/$mine SSHOAL_BOOT=$here SSHOAL_KEEPER=$keeper SSHOAL_RESULTS=$kept \
      setsid "$@" $politely "$shell" "$spool/$script" </dev/null >>"$spool/$dir/out" 2>>"$spool/$dir/err" 5>&- 6<&- 7>&- 8<&-
  code=$?
  as_in_spool
  cd "$spool" || exit 1
  learn_job
  return "$code"
}

# A job has the umask and the locale of a login. The spool is private, and its scripts need the C locale.
as_at_login() {
  umask "${login_umask:-077}"
  unset LC_ALL
  [ -z "${login_locale-}" ] || export LC_ALL="$login_locale"
}

as_in_spool() {
  umask 077
  export LC_ALL=C
}

# Sets $job to the pid that the job's shell wrote, if it could write it.
learn_job() {
  job='' whose=''
  { read -r job _ _ whose <"$mine/job"; } 2>/dev/null
  [ "$whose" = "$key" ] || job=$nobody
}

# For processes that may outlive the keeper: closes the pipes of fast.sh, whose readers wait until no process holds
# them.
close_pipes() {
  exec 5>&- 6<&- 7>&- 8<&-
}
