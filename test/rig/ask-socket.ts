// Asks an HTTP API on a unix socket.

import { request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Asked {
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer ends once this is true of the text so far. */
  readonly isEnough?: (text: string) => boolean;
}

export function askSocket(socketPath: string, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = asked.body === undefined ? "GET" : "POST", body, headers, isEnough } = asked;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asking = request(
      { socketPath, path, method, headers: { host: "localhost", ...type, ...headers } },
      (answer) => {
        let text = "";
        const done = () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers });
        answer.on("data", (chunk) => {
          text += chunk;
          if (isEnough?.(text)) {
            done();
            asking.destroy();
          }
        });
        answer.once("end", done);
        answer.once("error", reject);
      },
    );
    asking.once("error", reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
