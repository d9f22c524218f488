import { Button, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { AdminAccount } from '../../../src/contract/administration.ts'
import { formatSize, parseSize } from '../../../src/domain/sizes.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { ProblemMessage } from '../../shared/app/problem.tsx'
import { useAttempt } from '../../shared/app/use-attempt.ts'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { changeAccount } from '../client.ts'

interface QuotaPartProps {
  readonly account: AdminAccount
  readonly changed: () => Promise<void>
}

/** How much the account may store. */
export function QuotaPart({ account, changed }: QuotaPartProps) {
  const { texts, say } = useAdmin()
  const { account: names } = texts
  const [typed, setTyped] = useState(account.quota === null ? '' : writtenSize(account.quota))
  const { problem, isBusy, attempt, setProblem } = useAttempt()

  function submit(event: FormEvent): void {
    event.preventDefault()
    const quota = typed.trim() === '' ? null : parseSize(typed.replace(',', '.'))
    if (quota === null && typed.trim() !== '') {
      setProblem(names.quotaWrong)
      return
    }
    void attempt(
      () => changeAccount(account, { quota }),
      () => {
        say(fill(names.quotaSaved, { name: account.username }))
        return changed()
      },
    )
  }

  return (
    <PageSection title={names.quota} why={names.quotaWhy}>
      <form className="dialog-form" onSubmit={submit}>
        <TextInput
          autoComplete="off"
          description={names.quotaHint}
          label={names.quotaField}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          value={typed}
        />
        <ProblemMessage text={problem} />
        <Button className="add" disabled={isBusy} type="submit" variant="default">
          {texts.common.save}
        </Button>
      </form>
    </PageSection>
  )
}

/** As `parseSize` reads it, to the byte. */
function writtenSize(bytes: number): string {
  const short = formatSize(bytes)
  return parseSize(short) === bytes ? short : String(bytes)
}
