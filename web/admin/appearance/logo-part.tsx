import { Button } from '@mantine/core'
import { type ChangeEvent, useRef } from 'react'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { useAdmin } from '../admin-context.ts'
import { removeLogo, setLogo } from '../client.ts'

export function LogoPart({ path, changed }: { path: string | null; changed: () => Promise<void> }) {
  const { texts, say } = useAdmin()
  const { appearance: names } = texts
  const field = useRef<HTMLInputElement>(null)
  const { problem, isBusy, attempt } = useAttempt()

  function choose({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    const [picture] = currentTarget.files ?? []
    if (picture === undefined) return
    currentTarget.value = ''
    void attempt(
      () => setLogo(picture),
      () => {
        say(names.logoDone)
        return changed()
      },
    )
  }

  function remove(): void {
    void attempt(removeLogo, () => {
      say(names.logoRemoved)
      return changed()
    })
  }

  return (
    <>
      <h3>{names.logo}</h3>
      <p className="quiet">{names.logoWhy}</p>
      {path === null ? null : (
        <p>
          <img alt={names.logo} className="logo-shown" src={path} />
        </p>
      )}
      <input accept="image/*" aria-label={names.logo} hidden onChange={choose} ref={field} type="file" />
      <ProblemMessage text={problem} />
      <div className="buttons">
        <Button disabled={isBusy} onClick={() => field.current?.click()} variant="default">
          {names.chooseLogo}
        </Button>
        {path === null ? null : (
          <Button disabled={isBusy} onClick={remove} variant="subtle">
            {names.removeLogo}
          </Button>
        )}
      </div>
    </>
  )
}
