import { Button } from '@mantine/core'
import { useState } from 'react'
import type { AdminAccount } from '../../../src/contract/administration.ts'
import { PageSection } from '../../shared/app/part.tsx'
import { ConfirmDialog } from '../../shared/dialogs/confirm-dialog.tsx'
import { fill } from '../../shared/words.ts'
import { useAdmin } from '../admin-context.ts'
import { type AccountChangeFields, changeAccount } from '../client.ts'

interface PartProps {
  readonly account: AdminAccount
  readonly changed: () => Promise<void>
}

/** Whether anybody may come in with the account. */
export function AccessPart(props: PartProps) {
  const { account: texts } = useAdmin().texts
  const turn: Turn =
    props.account.disabled_at === null
      ? {
          change: { disabled: true },
          isDeletion: true,
          verb: texts.disable,
          title: texts.disableOf,
          why: texts.disableWhy,
          said: texts.disabled,
        }
      : {
          change: { disabled: false },
          isDeletion: false,
          verb: texts.enable,
          title: texts.enableOf,
          why: texts.enableWhy,
          said: texts.enabled,
        }
  return (
    <PageSection title={texts.access} why={texts.accessWhy}>
      <Switch {...props} {...turn} />
    </PageSection>
  )
}

/** Whether the account administers this server. */
export function AdministrationPart(props: PartProps) {
  const { account: texts } = useAdmin().texts
  const turn: Turn = props.account.is_admin
    ? {
        change: { is_admin: false },
        isDeletion: true,
        verb: texts.unmakeAdmin,
        title: texts.unmakeAdminOf,
        why: texts.unmakeAdminWhy,
        said: texts.unmadeAdmin,
      }
    : {
        change: { is_admin: true },
        isDeletion: false,
        verb: texts.makeAdmin,
        title: texts.makeAdminOf,
        why: texts.makeAdminWhy,
        said: texts.madeAdmin,
      }
  return (
    <PageSection title={texts.administration} why={texts.administrationWhy}>
      <Switch {...props} {...turn} />
    </PageSection>
  )
}

/** `title` and `said` are texts with a place for the name. */
interface Turn {
  readonly change: AccountChangeFields
  readonly verb: string
  readonly isDeletion: boolean
  readonly title: string
  readonly why: string
  readonly said: string
}

/** Asks before what takes something from somebody, or gives a lot. */
function Switch(props: PartProps & Turn) {
  const { account, changed, change, isDeletion, verb, title, why, said } = props
  const { say } = useAdmin()
  const [isAsking, setIsAsking] = useState(false)
  const name = account.username
  return (
    <>
      <Button className="add" onClick={() => setIsAsking(true)} variant="default">
        {verb}
      </Button>
      {isAsking ? (
        <ConfirmDialog
          act={() => changeAccount(account, change)}
          close={() => setIsAsking(false)}
          isDeletion={isDeletion}
          then={() => {
            say(fill(said, { name }))
            return changed()
          }}
          title={fill(title, { name })}
          verb={verb}
          why={why}
        />
      ) : null}
    </>
  )
}
