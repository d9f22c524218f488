/** What a contributor called a file, which its owner may rename. Unknown of what came before this. */
export const contributionNames = {
  sqlite: ['alter table contributions add column name text'],
  postgres: ['alter table contributions add column name text'],
}
