/** What a mail tells, before it is put into words. `path`: on this site; what is secret of it is good for one thing. */
export type Letter =
  | { readonly kind: 'verify' | 'reset'; readonly username: string; readonly path: string }
  | {
      readonly kind: 'password changed' | 'address changed' | 'address removed'
      readonly username: string
    }
  | FilesGoing

/** Some files of an account go if nobody looks at them. */
export interface FilesGoing {
  readonly kind: 'files going'
  readonly username: string
  /** Some of them, those that go first. */
  readonly names: readonly string[]
  /** How many there are besides. */
  readonly more: number
  /** When the first goes. */
  readonly goAt: number
  /** For how many days a file is kept that nobody looks at. */
  readonly days: number
  /** Leads to where all of them are kept. */
  readonly keepPath: string
  /** Leads to where such letters are ended. */
  readonly unsubscribePath: string
}
