// The login shell of this account, with the variables that a login over ssh has. The variables of the terminal in which
// `sshoal join` was typed are not for jobs of others; its search path is, because no system file knows it better.

import { userInfo } from "node:os";
import { readAccount, readHomeDir } from "../../../account.js";
import type { LoginShell } from "../../../transport/ssh2/shell-server.js";

const PASSED = /^(PATH|LANG|TZ|TMPDIR|LC_\w+|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/;

export function joinedShell(): LoginShell {
  const path = loginShell();
  const passed = Object.entries(process.env).flatMap(([name, value]) =>
    PASSED.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  const { username } = readAccount();
  const own = { HOME: readHomeDir(), USER: username, LOGNAME: username, SHELL: path };
  return { path, env: { ...Object.fromEntries(passed), ...own } };
}

/** An account that cannot log in has none, and can still run `sshoal join`. */
function loginShell(): string {
  try {
    const { shell } = userInfo();
    return shell === null || shell === "" || /\/(nologin|false)$/.test(shell) ? "/bin/sh" : shell;
  } catch {
    return "/bin/sh";
  }
}
