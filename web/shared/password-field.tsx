import { TextInput, type TextInputProps } from '@mantine/core'
import { Drawing } from './drawings/drawing.tsx'

interface PasswordFieldProps extends Omit<TextInputProps, 'type' | 'rightSection' | 'withAsterisk'> {
  readonly show: string
  readonly isShown?: boolean
}

/** Works by `watchPasswordFields`, also on pages without React. */
export function PasswordField({ show, isShown = false, ...props }: PasswordFieldProps) {
  return (
    <TextInput
      {...props}
      rightSection={
        <button
          aria-label={show}
          aria-pressed={isShown}
          className="icon-button show-password"
          title={show}
          type="button"
        >
          <Drawing of="open" />
          <Drawing of="hidden" />
        </button>
      }
      rightSectionPointerEvents="all"
      rightSectionWidth={48}
      spellCheck={false}
      type={isShown ? 'text' : 'password'}
      withAsterisk={false}
    />
  )
}
