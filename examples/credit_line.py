"""How large a credit line do applicants get, and what decides it?

Fits a line on an embedded table, prints the coefficients with their standard errors, how the fit ended, and
what residual analysis says.
"""

from hiperplano import LinearRegression, diagnose, load_credit_line

X, y = load_credit_line(as_frame=True, return_X_y=True)
model = LinearRegression().fit(X, y)

print(model.summary())
print()
print(model.solution_)
print()
print(diagnose(model, X, y))
