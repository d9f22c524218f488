import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core'

/** Light to dark; shades that pages use by name are in theme.css, where they follow the colour scheme. */
const accent: MantineColorsTuple = [
  '#f0fdfa',
  '#ccfbf1',
  '#99f6e4',
  '#5eead4',
  '#2dd4bf',
  '#14b8a6',
  '#0d9488',
  '#0f766e',
  '#115e59',
  '#134e4a',
]

/** Only what Mantine's components need; the rest of the style is in theme.css. */
export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 4 },
  colors: { accent },
  cursorType: 'pointer',
  defaultRadius: 'md',
  components: {
    Button: { defaultProps: { size: 'lg' } },
    TextInput: { defaultProps: { size: 'lg' } },
  },
  variantColorResolver(input) {
    const colors = defaultVariantColorsResolver(input)
    // In the dark scheme filled elements are light, so white text would lack contrast.
    return input.variant === 'filled' ? { ...colors, color: filledText(input.color) } : colors
  },
})

function filledText(color: string | undefined): string {
  return color === 'red' ? 'var(--on-danger)' : 'var(--on-accent)'
}
