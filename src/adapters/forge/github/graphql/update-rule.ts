/** What classic branch protection shows to those who do not administer the repository. */
export const UPDATE_RULE = /* GraphQL */ `
query UpdateRule($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) {
      refUpdateRule {
        requiredApprovingReviewCount
        requiredStatusCheckContexts
        requiresCodeOwnerReviews
        requiresLinearHistory
        requiresSignatures
      }
    }
  }
}
`;

export interface UpdateRule {
  requiredApprovingReviewCount: number | null;
  requiredStatusCheckContexts: (string | null)[] | null;
  requiresCodeOwnerReviews: boolean;
  requiresLinearHistory: boolean;
  requiresSignatures: boolean;
}

export interface UpdateRuleResult {
  repository: { ref: { refUpdateRule: UpdateRule | null } | null } | null;
}
