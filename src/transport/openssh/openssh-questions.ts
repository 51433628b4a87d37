// Answers questions of the system's ssh during a login: a passphrase, a PIN, a one-time password. ssh runs the program
// named by SSH_ASKPASS, which passes the question to this process, so ssh needs no terminal.

import { writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { Ask } from "../login/ask-person.js";
import { quote } from "../quote.js";

export interface Questions {
  /** Variables for the environment of ssh. */
  readonly env: Readonly<Record<string, string>>;
  /** True while a person is being asked. */
  isAsking(): boolean;
  close(): void;
}

export interface QuestionOptions {
  /** Private to this user. */
  readonly dir: string;
  readonly ask: Ask;
  /** Gets messages that need no answer: a hardware key waits to be touched. */
  readonly onNote: (message: string) => void;
}

export async function answerQuestions({ dir, ask, onNote }: QuestionOptions): Promise<Questions> {
  const program = join(dir, "ask");
  await writeFile(program, PROGRAM, { mode: 0o700 });
  const answers = new Answers(ask);
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let said = "";
    socket
      .setEncoding("utf8")
      .on("error", () => {}) // it was killed: the answer is no longer wanted
      .on("data", (chunk: string) => {
        said += chunk;
      })
      .once("end", () => answer(socket, said, answers, onNote));
  });
  await listen(server, `${program}.sock`);
  return {
    env: { SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: "force", DISPLAY: process.env.DISPLAY ?? "none" },
    isAsking: () => answers.pending > 0,
    close: () => server.close(),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(path, resolve).unref();
  });
}

async function answer(
  socket: Socket,
  said: string,
  answers: Answers,
  onNote: (message: string) => void,
): Promise<void> {
  const [kind = "", question = ""] = said.split("\0");
  // It ends by itself once the key was touched.
  if (kind === "none") return onNote(question);
  const given = await answers.to(question);
  socket.end(given === null ? "" : `+${given}`);
}

/** Passphrases that were typed in this command: each is asked for once, even if many machines want the key. */
const typed = new WeakMap<Ask, Map<string, Promise<string | null>>>();

/** The answers of one login. */
class Answers {
  pending = 0;
  readonly #ask: Ask;
  readonly #shared: Map<string, Promise<string | null>>;
  readonly #given = new Map<string, Promise<string | null>>();

  constructor(ask: Ask) {
    this.#ask = ask;
    this.#shared = typed.get(ask) ?? new Map();
    typed.set(ask, this.#shared);
  }

  to(question: string): Promise<string | null> {
    this.pending++;
    const given = /^Enter passphrase for /.test(question)
      ? this.#passphrase(question)
      : this.#ask.passphrase(question);
    return given.catch(() => null).finally(() => this.pending--);
  }

  /** The same question again means that the answer was wrong. Another caller may have got a better one since. */
  #passphrase(question: string): Promise<string | null> {
    const wrong = this.#given.get(question);
    const known = this.#shared.get(question);
    const isFresh = known !== undefined && known !== wrong;
    const given = isFresh
      ? known
      : this.#ask.passphrase(wrong === undefined ? question : `Wrong passphrase. ${question}`);
    this.#shared.set(question, given);
    this.#given.set(question, given);
    return given;
  }
}

const CLIENT = `
const [path, question, kind] = process.argv.slice(1);
const socket = require("node:net").connect(path).setEncoding("utf8");
let answer = "";
process.exitCode = 1;
socket.on("error", () => {}).on("data", (chunk) => (answer += chunk)).on("end", () => {
  if (answer === "") return;
  process.exitCode = 0;
  process.stdout.write(answer.slice(1) + "\\n");
});
socket.end(kind + "\\0" + question);
`;

const PROGRAM = `#!/bin/sh
exec ${quote(process.execPath)} -e ${quote(CLIENT)} -- "$0.sock" "$1" "$SSH_ASKPASS_PROMPT"
`;
