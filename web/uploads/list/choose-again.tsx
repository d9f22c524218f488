import { Button, type ButtonProps } from '@mantine/core'
import { type ChangeEvent, useRef } from 'react'

interface ChooseAgainProps extends Pick<ButtonProps, 'className' | 'leftSection' | 'variant'> {
  readonly name: string
  readonly label: string
  readonly chosen: (file: File) => void
}

export function ChooseAgain({ name, label, chosen, ...looks }: ChooseAgainProps) {
  const field = useRef<HTMLInputElement>(null)

  function changed({ currentTarget }: ChangeEvent<HTMLInputElement>): void {
    const file = currentTarget.files?.item(0)
    // Permits choosing the same file again.
    currentTarget.value = ''
    if (file) chosen(file)
  }

  return (
    <>
      <Button aria-label={`${label}: ${name}`} onClick={() => field.current?.click()} {...looks}>
        {label}
      </Button>
      <input
        aria-hidden="true"
        data-again={name}
        hidden
        onChange={changed}
        ref={field}
        tabIndex={-1}
        type="file"
      />
    </>
  )
}
