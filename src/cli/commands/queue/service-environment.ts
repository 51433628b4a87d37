// The variables that a service in the background gets from the shell that starts it. Jobs get those of the shells that enqueue them.

type Environment = Readonly<Record<string, string | undefined>>;

const PASSED = /^(HOME|PATH|USER|LOGNAME|SHELL|LANG|TZ|TMPDIR|SSH_AUTH_SOCK|LC_\w+|XDG_\w+|SSHOAL_\w+)$/;

export function serviceEnvironment(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      PASSED.test(name) && value !== undefined ? [[name, value] as const] : [],
    ),
  );
}
