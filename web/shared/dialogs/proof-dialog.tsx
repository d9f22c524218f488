import { Button } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useApp } from '../app/app-context.ts'
import { Loaded } from '../app/loaded.tsx'
import { ProblemMessage } from '../app/problem.tsx'
import { useAnswer } from '../app/use-answer.ts'
import { AttemptFailure, useAttempt } from '../app/use-attempt.ts'
import { knowsPasskeys, passkeyObstacle } from '../passkey-support.ts'
import { PasswordField } from '../password-field.tsx'
import { Told } from '../told.tsx'
import { fill } from '../words.ts'
import { Dialog } from './dialog.tsx'
import { fetchWays, proveByPasskey, proveByPassword, type Ways } from './proof.ts'

interface ProofDialogProps {
  readonly end: (isProved: boolean) => void
}

/** Milliseconds between two polls of the provider's result. */
const LOOKED_EVERY = 1500

/** Re-authenticates the user before an action whose effects outlast the session. */
export function ProofDialog({ end }: ProofDialogProps) {
  const { texts } = useApp()
  const { answered, again } = useAnswer(fetchWays)
  return (
    <Dialog close={() => end(false)} closeText={texts.close} title={texts.proof.title} why={texts.proof.why}>
      <Loaded again={again} answered={answered}>
        {(ways) => <WaysOf end={end} ways={ways} />}
      </Loaded>
    </Dialog>
  )
}

function WaysOf({ ways, end }: ProofDialogProps & { readonly ways: Ways }) {
  const { texts } = useApp()
  const { proof } = texts
  const knows = ways.has_passkeys && knowsPasskeys()
  const obstacle = knows ? passkeyObstacle(proof.passkeyPlace) : null
  const hasPasskeys = knows && obstacle === null
  const proved = () => end(true)
  if (!ways.has_password && !hasPasskeys && ways.oidc === null)
    return <p className="failure">{obstacle ?? proof.none}</p>
  return (
    <div className="dialog-form">
      {ways.has_password ? <PasswordWay proved={proved} username={ways.username} /> : null}
      {hasPasskeys ? <PasskeyWay isMain={!ways.has_password} proved={proved} /> : null}
      {obstacle === null ? null : <p className="quiet">{obstacle}</p>}
      {ways.oidc === null ? null : <OtherWay name={ways.oidc} proved={proved} ways={ways} />}
      <div className="dialog-actions">
        <Button onClick={() => end(false)} variant="default">
          {texts.cancel}
        </Button>
        {ways.has_password ? (
          <Button form={FORM} type="submit">
            {proof.confirm}
          </Button>
        ) : null}
      </div>
    </div>
  )
}

interface WayProps {
  readonly proved: () => void
}

const FORM = 'proof-by-password'

function PasswordWay({ username, proved }: WayProps & { readonly username: string }) {
  const { texts } = useApp()
  const { proof } = texts
  const [password, setPassword] = useState('')
  const { problem, passwordProblem, attempt } = useAttempt()
  const field = useRef<HTMLInputElement>(null)
  // Focused here, because the dialog opens before the available methods are known.
  useEffect(() => field.current?.focus(), [passwordProblem])

  function submit(event: FormEvent): void {
    event.preventDefault()
    void attempt(() => proveByPassword(password), proved)
  }

  return (
    <form id={FORM} onSubmit={submit}>
      {/* Tells password managers whose password it is. */}
      <input autoComplete="username" hidden readOnly value={username} />
      <PasswordField
        autoComplete="current-password"
        label={proof.password}
        onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        error={passwordProblem}
        errorProps={{ role: 'alert' }}
        ref={field}
        required
        show={texts.showPassword}
        value={password}
      />
      <ProblemMessage text={problem} />
    </form>
  )
}

function PasskeyWay({ isMain, proved }: WayProps & { readonly isMain: boolean }) {
  const { proof } = useApp().texts
  const { problem, isBusy, attempt } = useAttempt()

  async function use(): Promise<void> {
    if (!(await proveByPasskey())) throw new AttemptFailure(proof.passkeyFailed)
  }

  return (
    <>
      <Button
        disabled={isBusy}
        onClick={() => void attempt(use, proved)}
        variant={isMain ? 'filled' : 'default'}
      >
        {proof.passkey}
      </Button>
      <ProblemMessage text={problem} />
    </>
  )
}

/** Opens the provider in a new tab, so that nothing on this page is lost; the session shows the result. */
function OtherWay({ name, ways, proved }: WayProps & { readonly name: string; readonly ways: Ways }) {
  const { proof } = useApp().texts
  const [isThere, setIsThere] = useState(false)
  useEffect(() => {
    if (!isThere) return
    let isOver = false
    const timer = setInterval(async () => {
      const now = await fetchWays().catch(() => ways)
      // A late answer would end the next dialog.
      if (!isOver && Date.parse(now.proved_until) > Date.parse(ways.proved_until)) proved()
    }, LOOKED_EVERY)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [isThere, ways, proved])
  return (
    <>
      <Button
        component="a"
        href="/sign-in/oidc?prove=1"
        onClick={() => setIsThere(true)}
        rel="noopener"
        target="_blank"
        variant="default"
      >
        {fill(proof.other, { name })}
      </Button>
      {isThere ? <Told className="small quiet">{proof.waiting}</Told> : null}
    </>
  )
}
