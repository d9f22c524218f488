/** What each generated client is tried with. */
export interface GeneratedClient {
  upload(
    name: string,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<{ readonly slug: string; readonly id: number }>
  list(page: number, perPage: number): Promise<{ readonly names: readonly string[]; readonly pages: number }>
  detail(file: string): Promise<{ readonly name: string; readonly size: number }>
  rename(file: string, name: string): Promise<string>
  /** Returns its identifier. */
  makeFolder(name: string, isPublic: boolean): Promise<string>
  /** By their identifiers, whether they are public. */
  folders(): Promise<ReadonlyMap<string, boolean>>
  /** Returns the folder, as the answer has it. */
  move(file: string, folder: string): Promise<string>
  /** Returns how many files were deleted. */
  remove(files: readonly string[]): Promise<number>
  /** What the error says for a file that is not there. */
  missing(file: string): Promise<{ readonly status: number; readonly code: 'FILE_NOT_FOUND' | 'other' }>
  download(file: string): Promise<Uint8Array>
}

/** `url` and `key`: of the server and of an account. */
export type Connect = (url: string, key: string) => GeneratedClient

/** The value; throws where the answer was an error. */
export function sure<T>(value: T | undefined, error?: unknown): T {
  return value ?? refused(error)
}

export function refused(error: unknown): never {
  throw new Error(`the answer is an error: ${JSON.stringify(error)}`)
}
