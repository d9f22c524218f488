import { Button, TextInput } from '@mantine/core'
import { Drawing } from '../../../web/shared/drawings/drawing.tsx'
import { PasswordField } from '../../../web/shared/password-field.tsx'
import { fill } from '../../../web/shared/words.ts'
import {
  CLAIM,
  PASSKEY_BUTTON,
  PASSKEY_PROBLEM,
  type SignInPageData,
  STRENGTH,
} from '../../../web/sign-in/data.ts'
import type { AccountFormView } from '../views.ts'
import type { PageContext } from './context.ts'
import { waitingTime } from './error.tsx'
import { Layout, NoIndex } from './layout.tsx'

interface FormProps {
  readonly view: AccountFormView
  readonly context: PageContext
}

/** Works without scripts, except for passkeys. */
export function AccountFormPage({ view, context }: FormProps) {
  const texts = context.texts.account
  const { title, why, submit } = texts.forms[view.kind]
  const { password, common } = context.texts.settings.app
  const { strength } = password
  const data: SignInPageData = {
    next: view.next,
    locale: context.locale,
    texts: {
      passkeyFailed: texts.passkeyFailed,
      passkeyPlace: common.proof.passkeyPlace,
      strength,
      claim: texts.claim,
    },
  }
  const problem = problemOf(view, context)
  const field = fieldOfProblem(view)
  return (
    <Layout
      context={context}
      head={<NoIndex />}
      scripted={{ page: 'sign-in', data }}
      title={titleOf(title, problem, context)}
    >
      <main className="message account">
        <h1>{title}</h1>
        <p className="quiet">{why}</p>
        {view.isPasswordSet && problem === null ? <p role="status">{texts.passwordSet}</p> : null}
        {problem === null || field !== null ? null : (
          <p className="failure" role="alert">
            {problem}
          </p>
        )}
        <form action={view.action} method="post">
          <input name="next" type="hidden" value={view.next} />
          <Fields context={context} field={field} problem={problem} view={view} />
          {view.kind === 'signUp' ? (
            <label className="check" hidden id={CLAIM}>
              <input defaultChecked type="checkbox" />
              <span />
            </label>
          ) : null}
          <Button className="button" type="submit">
            {submit}
          </Button>
        </form>
        {view.kind === 'signIn' ? <OtherWays context={context} view={view} /> : null}
      </main>
    </Layout>
  )
}

interface FieldsProps extends FormProps {
  readonly problem: string | null
  readonly field: FieldName | null
}

type FieldName = 'username' | 'password' | 'code'

/** Focuses the field to type into next, and shows its problem. */
function Fields({ view, context, problem, field }: FieldsProps) {
  const start = field ?? firstField(view)
  const told = (name: FieldName) => ({
    autoFocus: name === start,
    error: name === field ? problem : null,
    errorProps: { role: 'alert' },
  })
  const texts = context.texts.account
  if (view.kind === 'code') {
    return (
      <TextInput
        {...told('code')}
        autoComplete="one-time-code"
        description={texts.codeHint}
        id="code"
        label={texts.code}
        name="code"
        required
        withAsterisk={false}
      />
    )
  }
  const isNew = view.kind !== 'signIn'
  return (
    <>
      {view.kind === 'setPassword' ? null : (
        <TextInput
          {...told('username')}
          autoCapitalize="none"
          autoComplete="username"
          defaultValue={view.username}
          id="username"
          label={texts.username}
          name="username"
          required
          withAsterisk={false}
        />
      )}
      <PasswordField
        {...told('password')}
        autoComplete={isNew ? 'new-password' : 'current-password'}
        description={isNew ? texts.passwordHint : undefined}
        id="password"
        label={texts.password}
        name="password"
        required
        show={context.texts.common.showPassword}
      />
      {isNew ? (
        <div className="strength" hidden id={STRENGTH}>
          <div aria-hidden="true" className="strength-bar" />
          <p className="small" role="status" />
        </div>
      ) : null}
    </>
  )
}

function firstField({ kind, username }: AccountFormView): FieldName {
  if (kind === 'code') return 'code'
  return kind === 'setPassword' || username !== '' ? 'password' : 'username'
}

function fieldOfProblem({ kind, error }: AccountFormView): FieldName | null {
  switch (error?.code) {
    case 'WRONG_PASSWORD':
      return 'password'
    case 'DUPLICATE_NAME':
    case 'INVALID_NAME':
      return 'username'
    case 'WRONG_CODE':
      return kind === 'code' ? 'code' : null
    default:
      return null
  }
}

export function titleOf(title: string, problem: string | null, { texts }: PageContext): string {
  return problem === null ? title : fill(texts.common.errorTitle, { title })
}

function OtherWays({ view, context }: FormProps) {
  const texts = context.texts.account
  return (
    <div className="other-ways">
      <button className="button button-quiet" hidden id={PASSKEY_BUTTON} type="button">
        <Drawing of="lock" size={20} />
        {texts.passkey}
      </button>
      <p className="failure" id={PASSKEY_PROBLEM} role="status" />
      {view.oidc === null ? null : (
        <a className="button button-quiet" href={view.oidc.address} rel="nofollow">
          {fill(texts.oidc, { name: view.oidc.name })}
        </a>
      )}
      {view.canReset ? (
        <a className="button button-quiet" href="/sign-in/forgotten">
          {context.texts.mail.pages.forgotten.title}
        </a>
      ) : null}
      {view.canSignUp ? (
        <a className="button button-quiet" href="/sign-up">
          {texts.forms.signUp.title}
        </a>
      ) : null}
    </div>
  )
}

function problemOf({ kind, error }: AccountFormView, { texts, words }: PageContext): string | null {
  if (error === null) return null
  const { account, errors, common } = texts
  const { title, message } = errors.codes[error.code]
  switch (error.code) {
    case 'WRONG_PASSWORD':
      return account.wrongPassword
    case 'DUPLICATE_NAME':
      return account.nameTaken
    case 'INVALID_NAME':
      return account.nameWrong
    case 'WRONG_CODE':
      return kind === 'code' ? account.wrongCode : `${title}. ${message}`
    case 'RATE_LIMITED':
      return fill(account.tooMany, { wait: waitingTime(error.retryAfter ?? 0, words, common) })
    default:
      return `${title}. ${message}`
  }
}
