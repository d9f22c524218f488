import type { Reason, UploadProblem } from './verdict.ts'

export interface Target {
  /** Null for the top level, or where there are none. */
  readonly folder: string | null
  /** `photos/2026/beach.jpg` inside that folder. */
  readonly path: string | null
}

export interface UploadItem extends Target {
  readonly id: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly sent: number
  readonly link: string | null
  readonly state: UploadPhase
  /** Where this page has it, for a picture of it. */
  readonly file?: Blob
  /** Of a stored file in a guest's transfer: permits deleting it. */
  readonly receipt?: string
}

export type UploadPhase =
  | { readonly kind: 'starting'; readonly isSlow?: true }
  | { readonly kind: 'queued' }
  /** `isAgain`: bytes sent before did not arrive, for example after a server failure. */
  | { readonly kind: 'sending'; readonly pace: Pace; readonly isAgain?: true }
  /** Retries at `until` (milliseconds since 1970) or before. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly until: number }
  | { readonly kind: 'paused' }
  /**
   * An earlier page closed, and this one needs the file. `hasHandle`: one click suffices; else the user
   * chooses it again. `other`: a different file that was chosen.
   */
  | {
      readonly kind: 'interrupted'
      readonly hasHandle: boolean
      readonly other: OtherFile | null
    }
  | { readonly kind: 'processing' }
  /** Durable on the server. `deletion`: its progress, where this browser may delete the file. */
  | { readonly kind: 'done'; readonly deletion: DeletionState | null }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'failed'; readonly problem: UploadProblem }
  /** Removed in a moment, unless the user takes that back. */
  | { readonly kind: 'cancelled' }

export type DeletionState = 'possible' | 'asked' | 'under way' | 'failed'

export interface OtherFile {
  readonly name: string
  readonly size: number
  /** Same name and size, other date. */
  readonly isNewer: boolean
}

export interface Pace {
  /** Bytes a second; null while it would be a guess. */
  readonly speed: number | null
  /** Seconds; null while it would be a guess. */
  readonly left: number | null
  readonly isStalled: boolean
}

export interface Uploads {
  readonly items: readonly UploadItem[]
  readonly total: Total
}

export interface Total {
  readonly size: number
  readonly sent: number
  readonly pace: Pace
  /** Whether leaving the page would interrupt something. */
  readonly isActive: boolean
}

export const NO_PACE: Pace = { speed: null, left: null, isStalled: false }

/** Nothing is left to do, for the page or the user. */
export function isOver({ state }: UploadItem): boolean {
  return ['done', 'deleted', 'failed'].includes(state.kind)
}

/** Stands still until the user does something. */
export function isBroken({ state }: UploadItem): boolean {
  return state.kind === 'failed' || state.kind === 'interrupted'
}

export function isActive({ state }: UploadItem): boolean {
  return ['starting', 'queued', 'sending', 'waiting'].includes(state.kind)
}
