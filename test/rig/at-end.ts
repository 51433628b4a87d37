// What a test file made for all of its tests is removed after the last one. A worker of vitest can be ended without an exit event.

const actions: (() => void)[] = [];

export function atEnd(action: () => void): void {
  actions.push(action);
}

export function runAtEnd(): void {
  for (const action of actions.splice(0)) action();
}

process.once("exit", runAtEnd);
