/** What the page of the API reference tells its script. */
export interface ReferenceData {
  /** The path of the OpenAPI document. */
  readonly document: string
  /** What is said when the document cannot be had. */
  readonly failed: string
}

/** The id of the element that the reference is put into. */
export const REFERENCE = 'reference'
