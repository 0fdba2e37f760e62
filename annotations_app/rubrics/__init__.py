"""Rubrics of test cases: judged by people in campaigns, and compared with grades of `rubric-grade`"""
