import type { Plural } from '../shared/words.ts'
import type { Reason } from './verdict.ts'

/** What the start page says once its script runs, and in its zone before. */
export interface StartAppTexts {
  readonly drop: string
  readonly choose: string
  readonly dropNow: string
  readonly addMore: string
  /** Of dropped folders. */
  readonly nothingDropped: string
  readonly chooseFiles: string
  readonly choosePhotos: string
  readonly paste: string
  readonly file: string
  readonly upload: string
  /** The beginnings of names for what is pasted. */
  readonly pasted: { readonly image: string; readonly text: string }
  /** `nameWhy`: what the name's ending is good for. */
  readonly typed: {
    readonly title: string
    readonly text: string
    readonly name: string
    readonly nameWhy: string
  }
  readonly list: string
  readonly files: Plural
  readonly uploading: Plural
  readonly uploaded: Plural
  readonly notUploaded: Plural
  readonly waiting: Plural
  readonly pausedUploads: Plural
  readonly total: string
  /** {name} */
  readonly progressOf: string
  readonly states: {
    readonly starting: string
    readonly startingSlow: string
    readonly queued: string
    /** {sent}, {size} */
    readonly sending: string
    /** Beside `sending`, where bytes that had gone off did not arrive. */
    readonly again: string
    readonly stalled: string
    /** {time}: when it is tried again. */
    readonly waiting: Readonly<Record<Reason, string>>
    /** {percent} */
    readonly paused: string
    /** {percent} */
    readonly interrupted: string
    /** {percent} */
    readonly interruptedWithHandle: string
    readonly processing: string
    /** {size} */
    readonly done: string
    readonly cancelled: string
    readonly deletionAsked: string
    readonly deleting: string
    readonly deletionFailed: string
    readonly deleted: string
  }
  /** {size} */
  readonly speed: string
  readonly fewSecondsLeft: string
  readonly secondsLeft: Plural
  readonly minutesLeft: Plural
  readonly hoursLeft: Plural
  /** {name}, {size}, {other}, {otherSize} */
  readonly otherFile: string
  /** {name} */
  readonly otherVersion: string
  readonly problems: {
    /** {size}, {limit} */
    readonly tooLarge: string
    readonly guestsOff: string
    /** {size} */
    readonly accountFull: string
    readonly signedOut: string
    readonly notAllowed: string
    readonly contentRefused: string
    readonly folderGone: string
    readonly linkOver: string
    readonly linkFull: string
    readonly linkKind: string
    readonly linkNoSpace: string
    readonly notStored: string
    readonly changed: string
    readonly expired: string
    readonly proxy: string
    /** {code} */
    readonly refused: string
  }
  /** Of files that wait for what an upload link asks, and for `send`. */
  readonly held: Plural
  /** Beside `held`, while something is missing. */
  readonly fillIn: string
  readonly send: Plural
  readonly pause: string
  readonly resume: string
  readonly pauseAll: string
  readonly resumeAll: string
  readonly retry: string
  readonly tryNow: string
  readonly cancel: string
  readonly undo: string
  readonly remove: string
  readonly clear: string
  readonly delete: string
  readonly deleteForGood: string
  readonly keep: string
  readonly showAll: Plural
  readonly showFewer: string
  readonly seeStorage: string
  readonly signIn: string
  readonly earlier: {
    readonly title: Plural
    readonly why: string
    /** {size}, {day} */
    readonly facts: string
    readonly manage: string
    readonly forget: string
    readonly forgetAsked: string
    readonly forgetConfirm: string
    readonly remember: string
  }
  readonly claim: ClaimTexts
  readonly oneLink: {
    /** {count} */
    readonly name: Plural
    readonly make: Plural
    readonly terms: string
    readonly termsOfOne: string
    readonly why: string
    readonly password: string
    readonly goodFor: string
    readonly days: Plural
    readonly endless: string
    readonly once: string
    readonly onceWhy: string
    readonly asksPassword: string
    readonly goodForOne: string
    /** {size}, {day} */
    readonly facts: string
    readonly made: string
    readonly copied: string
    readonly failed: string
    readonly takeBack: string
    readonly takenBackAsked: string
    readonly keepLink: string
  }
  readonly continue: string
  readonly chooseAgain: string
  readonly copy: string
  readonly copied: string
  readonly copyAll: Plural
  readonly share: string
  readonly qrCode: string
  readonly qrCodeOf: string
}

/** Of what this browser has uploaded without an account, for whoever has one now. */
export interface ClaimTexts {
  readonly offered: Plural
  readonly move: string
  readonly notNow: string
  readonly moving: string
  readonly moved: Plural
  readonly full: string
  readonly failed: string
  readonly close: string
}
