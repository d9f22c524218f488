export interface ArrivingPageView {
  readonly name: string
  /** Whole minutes without bytes; null while that is short. */
  readonly stalledFor: number | null
  /** Bytes. */
  readonly received: number
  /** Bytes; null while unknown. */
  readonly size: number | null
  readonly downloadUrl: string | null
}
