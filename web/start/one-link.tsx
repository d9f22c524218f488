import { Button } from '@mantine/core'
import { type SubmitEvent, useId, useState } from 'react'
import { LONGEST_SHARED_PASSWORD } from '../../src/domain/password-grade.ts'
import { toClipboard } from '../shared/clipboard.ts'
import { Told } from '../shared/told.tsx'
import { makeLinkTo } from '../uploads/link-making.ts'
import { LinkActions } from '../uploads/list/link-actions.tsx'
import type { View } from '../uploads/list/view.ts'
import type { ReceiptStore } from '../uploads/receipts.ts'
import { isActive, type UploadItem } from '../uploads/upload-item.ts'
import { keepOneLink, type OneLinkMade } from './kept-one-link.ts'

interface OneLinkProps {
  readonly items: readonly UploadItem[]
  /** Of guests; null for somebody who is signed in, whose links are in their account. */
  readonly receipts: ReceiptStore | null
  readonly view: View
  readonly made: OneLinkMade | null
  readonly show: (made: OneLinkMade) => void
}

/** So many one link opens at most. */
const MOST = 200
/** In days. */
const ENDS = [1, 7, 30] as const

/** One link to all that was uploaded here, with terms for whoever wants some. A single upload has its link already. */
export function OneLink({ items, receipts, view, made, show }: OneLinkProps) {
  const { texts, words } = view
  const done = doneOf({ items, receipts })
  if (done.length === 0) return null
  if (made === null || !opensAll(made, done))
    return <Making done={done} receipts={receipts} show={show} view={view} />
  return (
    <section aria-label={words.count(done.length, texts.oneLink.name)} className="one-link" data-made>
      <h2>{words.count(done.length, texts.oneLink.name)}</h2>
      <LinkActions
        isMain
        link={made.link}
        name={words.count(done.length, texts.oneLink.name)}
        note={noteOf(made, texts)}
        texts={texts}
      />
      <Told className="small quiet">{made.isCopied ? texts.oneLink.copied : texts.oneLink.made}</Told>
    </section>
  )
}

/** Whether the list shows the link that was made, which opens all of it. */
export function showsMade({ made, ...list }: Pick<OneLinkProps, 'items' | 'receipts' | 'made'>): boolean {
  const done = doneOf(list)
  return made !== null && done.length > 0 && opensAll(made, done)
}

function opensAll(made: OneLinkMade, done: readonly Done[]): boolean {
  return done.every(({ link }) => made.links.includes(link))
}

/** What one link can open now; empty while there is more to come, or where it is too much. */
function doneOf({ items, receipts }: Pick<OneLinkProps, 'items' | 'receipts'>): readonly Done[] {
  if (items.some(isActive)) return []
  const done = items.flatMap((item) => linked(item, receipts))
  return done.length > MOST ? [] : done
}

/** What whoever sends it has to know; null where it opens for everybody. */
function noteOf({ hasPassword, isForOne }: OneLinkMade, { oneLink }: View['texts']): string | null {
  const notes = [...(hasPassword ? [oneLink.asksPassword] : []), ...(isForOne ? [oneLink.goodForOne] : [])]
  return notes.length === 0 ? null : notes.join(' ')
}

interface Done {
  readonly link: string
  readonly size: number
  /** The receipt of a guest's upload, or the slug of an account's. */
  readonly proof: string
}

function linked({ link, size, state }: UploadItem, receipts: ReceiptStore | null): readonly Done[] {
  if (link === null || state.kind !== 'done') return []
  const proof = receipts === null ? link.split('/').at(-1) : receipts.find(link)?.receipt
  return proof === undefined ? [] : [{ link, size, proof }]
}

interface MakingProps extends Pick<OneLinkProps, 'receipts' | 'view' | 'show'> {
  readonly done: readonly Done[]
}

function Making({ done, receipts, show, view: { texts, words } }: MakingProps) {
  const { oneLink } = texts
  const [step, setStep] = useState<'none' | 'under way' | 'failed'>('none')
  const ids = useId()
  const isOnly = done.length === 1
  const [isOpen, setIsOpen] = useState(false)
  const submitButton = (
    <Button disabled={step === 'under way'} type="submit">
      {words.count(done.length, oneLink.make)}
    </Button>
  )

  async function make(form: HTMLFormElement): Promise<void> {
    const fields = new FormData(form)
    const [password, days] = [String(fields.get('password')), Number(fields.get('days'))]
    const links = done.map(({ link }) => link)
    const terms = { password, days, once: fields.has('once') }
    const proofs = done.map(({ proof }) => proof)
    const { url, receipt } = await makeLinkTo(
      receipts === null ? { files: proofs } : { receipts: proofs },
      terms,
    )
    const name = words.count(done.length, oneLink.name)
    const size = done.reduce((sum, each) => sum + each.size, 0)
    if (receipt !== null) receipts?.add({ name, size, link: url, receipt, at: Date.now() })
    const isCopied = await toClipboard(url)
    const made = { link: url, links, hasPassword: password !== '', isForOne: terms.once, isCopied }
    keepOneLink(made)
    show(made)
  }

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault()
    if (step === 'under way') return
    setStep('under way')
    make(event.currentTarget).catch(() => setStep('failed'))
  }

  return (
    <form className="one-link" onSubmit={submit}>
      {isOnly || isOpen ? null : submitButton}
      <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary className="small quiet">{isOnly ? oneLink.termsOfOne : oneLink.terms}</summary>
        <div className="one-link-terms">
          <p className="small quiet">{oneLink.why}</p>
          <div className="field">
            <label htmlFor={`${ids}-password`}>{oneLink.password}</label>
            <input
              autoComplete="off"
              id={`${ids}-password`}
              maxLength={LONGEST_SHARED_PASSWORD}
              name="password"
              type="text"
            />
          </div>
          <div className="field">
            <label htmlFor={`${ids}-days`}>{oneLink.goodFor}</label>
            <select defaultValue="0" id={`${ids}-days`} name="days">
              <option value="0">{oneLink.endless}</option>
              {ENDS.map((days) => (
                <option key={days} value={days}>
                  {words.count(days, oneLink.days)}
                </option>
              ))}
            </select>
          </div>
          <label className="check">
            <input name="once" type="checkbox" />
            <span>
              {oneLink.once}
              <span className="small quiet">{oneLink.onceWhy}</span>
            </span>
          </label>
          {isOpen ? submitButton : null}
        </div>
      </details>
      {step === 'failed' ? <Told className="small failure">{oneLink.failed}</Told> : null}
    </form>
  )
}
