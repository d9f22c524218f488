/** A file that is still being uploaded. */
export interface ArrivingPageView {
  readonly name: string
  /** Whole minutes since bytes last came; null where it is not worth a word. */
  readonly stalledFor: number | null
  /** Bytes. */
  readonly received: number
  /** Bytes; null while that is not known. */
  readonly size: number | null
  /** Where it is downloaded as it arrives; null where it is not. */
  readonly downloadUrl: string | null
}
