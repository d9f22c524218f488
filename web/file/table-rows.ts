import Papa from 'papaparse'
import { separated } from './separated.ts'
import type { TextLines } from './text-lines.ts'

/** The records of separated values, read on as they are asked for. */
export class TableRows {
  readonly all: string[][] = []
  readonly #lines: TextLines
  readonly #name: string
  #delimiter: string | null = null
  /** Of a record whose end has not been read. */
  #begun = ''

  constructor(lines: TextLines, name: string) {
    this.#lines = lines
    this.#name = name
  }

  get isAtEnd(): boolean {
    return this.#lines.isAtEnd
  }

  get isWhole(): boolean {
    return this.#lines.isWhole
  }

  /** False at the end. Call it once at a time. */
  async next(): Promise<boolean> {
    if (this.isAtEnd) return false
    let text = this.#begun + (await this.#lines.next())
    if (this.#delimiter === null) {
      const first = separated(text, this.#name)
      text = first.text
      this.#delimiter = first.delimiter === '' ? guessed(text) : first.delimiter
    }
    /** Where each record ends. */
    const ends: number[] = []
    // As arrays: names of columns become no names of properties.
    Papa.parse<string[]>(text, {
      skipEmptyLines: true,
      delimiter: this.#delimiter,
      step: ({ data, meta }) => {
        this.all.push(data)
        ends.push(meta.cursor)
      },
    })
    if (!this.#lines.isAtEnd) {
      // A line break may stand within a cell: whether the last record is whole shows in what follows.
      if (ends.length > 0) this.all.pop()
      this.#begun = text.slice(ends.at(-2) ?? 0)
    }
    return true
  }
}

function guessed(text: string): string {
  return Papa.parse<string[]>(text, { preview: 10, skipEmptyLines: true }).meta.delimiter
}
