/** Receives the progress of transfers. */
export interface TransferProgress {
  /** `size` null when it is not known. `done`: what had come across before. */
  begin(name: string, size: number | null, done: number): WatchedTransfer
  /** How many bytes and files all of it will be, as far as it is known. */
  expect(files: number, bytes: number): void
  /** Something a person should know, in one line. */
  say(line: string): void
}

export interface WatchedTransfer {
  /** How much of it has come across; it may be less than it was. */
  at(position: number): void
  end(): void
}
