// Ctrl-Z, bg and fg: finds out whether we own the terminal, and acts before the process is suspended and after it is
// resumed.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** A background process that uses its terminal is suspended. */
export function isInForeground(): boolean {
  const groups = readGroups();
  return groups === null || groups.foreground === -1 || groups.foreground === groups.own;
}

interface Groups {
  readonly own: number;
  /** Of the terminal; -1: there is none. */
  readonly foreground: number;
}

function readGroups(): Groups | null {
  try {
    return parseStat(readFileSync("/proc/self/stat", "utf8"));
  } catch {
    return askPs();
  }
}

/** `pid (name) state ppid pgrp session tty tpgid …`; the name may have spaces and brackets. */
export function parseStat(text: string): Groups {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { own: Number(fields[2]), foreground: Number(fields[5]) };
}

function askPs(): Groups | null {
  try {
    const text = execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`], { encoding: "utf8" });
    const [own, foreground] = text.trim().split(/\s+/).map(Number);
    return own && foreground ? { own, foreground } : null;
  } catch {
    return null;
  }
}

export interface StopListener {
  /** The process is about to be suspended. */
  onStop(): void;
  /** It was resumed, in the foreground or not. */
  onContinue(): void;
}

/** Returns a function that stops listening. */
export function listenForStops({ onStop, onContinue }: StopListener): () => void {
  const stop = () => {
    onStop();
    // Without a listener the signal has its default effect: the next line returns after `fg` or `bg`.
    process.off("SIGTSTP", stop);
    process.kill(process.pid, "SIGTSTP");
    process.on("SIGTSTP", stop);
    onContinue();
  };
  process.on("SIGTSTP", stop);
  process.on("SIGCONT", onContinue);
  return () => {
    process.off("SIGTSTP", stop);
    process.off("SIGCONT", onContinue);
  };
}
