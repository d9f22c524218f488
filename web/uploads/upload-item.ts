import type { Reason, UploadProblem } from './verdict.ts'

/** Where a file goes. */
export interface Target {
  /** A folder's identifier; null for the top level, or where there are no folders. */
  readonly folder: string | null
  /** `photos/2026/beach.jpg` inside that folder; null for a file by itself. */
  readonly path: string | null
}

/** What the page shows of one file. */
export interface UploadItem extends Target {
  readonly id: string
  readonly name: string
  /** Bytes. */
  readonly size: number
  readonly sent: number
  /** Null as long as there is none. */
  readonly link: string | null
  readonly state: UploadPhase
}

export type UploadPhase =
  /** Its link is being made. */
  | { readonly kind: 'starting'; readonly isSlow?: true }
  /** Others are being sent first. */
  | { readonly kind: 'queued' }
  /** `isAgain`: what had gone off before did not arrive, as when the server failed. */
  | { readonly kind: 'sending'; readonly pace: Pace; readonly isAgain?: true }
  /** It goes on by itself, at `until` (milliseconds since 1970) or before. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly until: number }
  | { readonly kind: 'paused' }
  /**
   * An earlier page was closed in the middle, and the file has to be given to this one. `hasHandle`: one click is
   * enough; otherwise it is chosen again. `other`: what was chosen instead.
   */
  | {
      readonly kind: 'interrupted'
      readonly hasHandle: boolean
      readonly other: OtherFile | null
    }
  /** All bytes are on the server, which is not ready with them. */
  | { readonly kind: 'processing' }
  /** Safe on the server's disk. `deletion`: whether this browser may delete it, and how far that is. */
  | { readonly kind: 'done'; readonly deletion: DeletionState | null }
  /** Deleted for good by whoever uploaded it. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'failed'; readonly problem: UploadProblem }
  /** Given up, and gone in a moment unless it is taken back. */
  | { readonly kind: 'cancelled' }

export type DeletionState = 'possible' | 'asked' | 'under way' | 'failed'

export interface OtherFile {
  readonly name: string
  readonly size: number
  /** The right name and size, but written at another time. */
  readonly isNewer: boolean
}

export interface Pace {
  /** Bytes a second; null while it would be a guess. */
  readonly speed: number | null
  /** Seconds that are left; null while it would be a guess. */
  readonly left: number | null
  /** Nothing has moved for a while. */
  readonly isStalled: boolean
}

export interface Uploads {
  readonly items: readonly UploadItem[]
  readonly total: Total
}

/** All files that were begun together. */
export interface Total {
  readonly size: number
  readonly sent: number
  readonly pace: Pace
  /** Whether leaving the page would interrupt something. */
  readonly isActive: boolean
}

export const NO_PACE: Pace = { speed: null, left: null, isStalled: false }

/** Whether nothing of it is left to do, for the page or the person. */
export function isOver({ state }: UploadItem): boolean {
  return ['done', 'deleted', 'failed'].includes(state.kind)
}

/** Whether an upload works towards its end by itself. */
export function isActive({ state }: UploadItem): boolean {
  return ['starting', 'queued', 'sending', 'waiting'].includes(state.kind)
}
