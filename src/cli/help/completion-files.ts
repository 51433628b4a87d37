// The script for each shell, below dist/completion/. zsh finds a function by the name of its file.

export const COMPLETION_FILES = { bash: "sshoal.bash", zsh: "_sshoal", fish: "sshoal.fish" } as const;
