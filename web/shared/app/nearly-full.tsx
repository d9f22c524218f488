import type { Account } from '../../../src/contract/account.ts'
import { fill, type Words } from '../words.ts'

export interface NearlyFullTexts {
  /** {used}, {limit} */
  readonly nearlyFull: string
  /** {used}, {limit} */
  readonly full: string
  readonly makeRoom: string
  /** {size}: of the bin */
  readonly makeRoomInBin: string
}

interface NearlyFullProps {
  readonly account: Account
  readonly texts: NearlyFullTexts
  readonly words: Words
}

export function NearlyFull({ account, texts, words }: NearlyFullProps) {
  const { storage_used: used, storage_limit: limit, storage_in_bin: inBin } = account
  const sizes = { used: words.size(used), limit: words.size(limit) }
  return (
    <>
      <strong>{fill(used < limit ? texts.nearlyFull : texts.full, sizes)}</strong>{' '}
      {inBin > 0 ? fill(texts.makeRoomInBin, { size: words.size(inBin) }) : texts.makeRoom}
    </>
  )
}
