import { LONGEST_SHARED_PASSWORD } from '../../../src/domain/password-grade.ts'
import { PasswordField } from '../../shared/password-field.tsx'
import { useFiles } from '../files-context.ts'

export interface Protection {
  readonly kind: 'none' | 'kept' | 'new'
  readonly password: string
}

export function presentProtection(hasPassword: boolean): Protection {
  return { kind: hasPassword ? 'kept' : 'none', password: '' }
}

/** New value for the server; undefined for no change. */
export function changedPassword(
  { kind, password }: Protection,
  hasPassword: boolean,
): string | null | undefined {
  if (kind === 'new') return password
  return kind === 'none' && hasPassword ? null : undefined
}

interface ProtectionFieldProps {
  readonly hasPassword: boolean
  readonly protection: Protection
  readonly set: (protection: Protection) => void
}

export function ProtectionField({ hasPassword, protection, set }: ProtectionFieldProps) {
  const { dialogs } = useFiles().texts
  const kinds = hasPassword ? (['kept', 'new', 'none'] as const) : (['none', 'new'] as const)
  return (
    <>
      <fieldset>
        <legend>{dialogs.password}</legend>
        {kinds.map((kind) => (
          <label className="check" key={kind}>
            <input
              checked={protection.kind === kind}
              name="protection"
              onChange={() => set({ ...protection, kind })}
              type="radio"
            />
            <span>{dialogs.protections[kind]}</span>
          </label>
        ))}
      </fieldset>
      {protection.kind === 'new' ? (
        <PasswordField
          autoComplete="new-password"
          label={dialogs.newPassword}
          maxLength={LONGEST_SHARED_PASSWORD}
          onChange={({ currentTarget }) => set({ kind: 'new', password: currentTarget.value })}
          required
          show={dialogs.showPassword}
          value={protection.password}
        />
      ) : null}
    </>
  )
}
