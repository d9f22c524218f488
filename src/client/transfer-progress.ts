export interface TransferProgress {
  /** `size` null: unknown. `done`: bytes of an earlier run. */
  begin(name: string, size: number | null, done: number): WatchedTransfer
  expect(files: number, bytes: number): void
  say(line: string): void
}

export interface WatchedTransfer {
  /** May go back. */
  at(position: number): void
  end(): void
}
