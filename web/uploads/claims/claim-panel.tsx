import { useEffect, useState } from 'react'
import { Told } from '../../shared/told.tsx'
import type { Words } from '../../shared/words.ts'
import type { ReceiptStore } from '../receipts.ts'
import { storage } from '../storage.ts'
import type { ClaimTexts } from '../texts.ts'
import {
  type ClaimResult,
  claimAll,
  claimable,
  declineClaim,
  filesIn,
  isDeclined,
  takeClaimWish,
} from './claiming.ts'

interface ClaimPanelProps {
  readonly receipts: ReceiptStore
  readonly texts: ClaimTexts
  readonly words: Words
  readonly className: string
  readonly changed?: () => void
}

type Step = 'offered' | 'moving' | 'over' | ClaimResult

/** At once if the sign-up form said so, else on request. */
export function ClaimPanel({ receipts, texts, words, className, changed }: ClaimPanelProps) {
  const [files] = useState(() => claimable(receipts))
  const [step, setStep] = useState<Step>(() => (isDeclined(storage(), files) ? 'over' : 'offered'))

  async function move(): Promise<void> {
    setStep('moving')
    const result = await claimAll(receipts)
    setStep(result)
    changed?.()
  }

  useEffect(() => {
    if (takeClaimWish(storage()) && files.length > 0) void move()
  }, [])

  if (step === 'over' || files.length === 0) return null
  return (
    <div className={className} data-claim={typeof step === 'string' ? step : 'moved'}>
      <Told className="notice-words">{said(step, filesIn(files), texts, words)}</Told>
      <div className="notice-actions">
        {step === 'offered' ? (
          <>
            <button className="text-button" onClick={() => void move()} type="button">
              {texts.move}
            </button>
            <button
              className="text-button"
              onClick={() => {
                declineClaim(storage(), files)
                setStep('over')
              }}
              type="button"
            >
              {texts.notNow}
            </button>
          </>
        ) : null}
        {typeof step === 'string' ? null : (
          <button className="text-button" onClick={() => setStep('over')} type="button">
            {texts.close}
          </button>
        )}
      </div>
    </div>
  )
}

function said(step: Exclude<Step, 'over'>, many: number, texts: ClaimTexts, words: Words) {
  if (step === 'offered') return <p>{words.count(many, texts.offered)}</p>
  if (step === 'moving') return <p>{texts.moving}</p>
  const { moved, trouble } = step
  return (
    <>
      {moved === 0 ? null : <p>{words.count(moved, texts.moved)}</p>}
      {trouble === null ? null : <p className="small failure">{texts[trouble]}</p>}
    </>
  )
}
