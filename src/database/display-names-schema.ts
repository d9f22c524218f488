/** Version 3: display names of accounts. */
const statements = ['alter table accounts add column display_name text']

export const displayNamesSchema = { sqlite: statements, postgres: statements }
